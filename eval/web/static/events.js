/** What happened, as sentences. */

import { playText, say } from "./words.js";

/** The sentence for one of the server's events. */
export function sentence(event) {
  const who = event.player === 0 ? "you" : "bot";
  return say(`${who}_${event.kind}`, {
    dice: (event.dice ?? []).join("-"),
    text: playText(event.text ?? ""),
    value: event.value,
    level: say(`level_${event.level ?? 0}`),
    points: say("point_count", { count: event.value }),
  });
}

/** How the game just over ended: the event that says for how much, or undefined where a flag fell. */
export const ending = (state) => state.log.findLast((event) => event.kind === "won");

/** Who won what is just over, 0 you. */
export const winner = (state) => state.log.findLast((event) => event.kind.startsWith("won"))?.player;
