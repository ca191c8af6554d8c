/**
 * Dialogues, each a `<dialog>` that is made when it opens and gone when it closes: the answer to a double, the end of a
 * game, resigning, help. The new game's and the hint's have modules of their own.
 */

import { html } from "./elements.js";
import { ending, winner } from "./events.js";
import { YOU } from "./geometry.js";
import { number, say } from "./words.js";

const open = new Map();

/** Opens a dialogue under `name`, in the place of one so named; the focus returns to where it was when it closes. */
export function show(name, title, ...content) {
  close(name);
  const before = document.activeElement;
  const heading = html("h2", { id: `${name}-title` }, title);
  const dialog = html("dialog", { class: name, "aria-labelledby": heading.id }, heading, ...content);
  dialog.addEventListener("close", () => {
    if ("insists" in dialog.dataset && open.get(name) === dialog) return dialog.showModal();
    dialog.remove();
    if (open.get(name) === dialog) open.delete(name);
    if (before?.isConnected && document.activeElement === document.body) before.focus();
  });
  document.body.append(dialog);
  open.set(name, dialog);
  dialog.showModal();
  return dialog;
}

/** Closes the dialogue of this name, if it is open. */
export function close(name) {
  const dialog = open.get(name);
  open.delete(name);
  dialog?.close();
}

/** Lets nothing but `close` close it: of Escape pressed again and again a browser does not ask. */
export function insist(dialog) {
  dialog.dataset.insists = "";
  dialog.addEventListener("cancel", (event) => event.preventDefault());
}

/** Is this one open, or without a name: is any? */
export const isOpen = (name) => [...open].some(([each, dialog]) => dialog.open && (!name || each === name));

/** A button of a dialogue. */
export const button = (text, onclick, kind = "") => html("button", { type: "button", class: kind, onclick }, text);

/** A row of buttons. */
export const row = (...buttons) => html("div", { class: "row" }, ...buttons);

/** The bot doubled, or beavered: `choose` gets "take", "drop", "beaver" or "undo", `hint` shows advice. */
export function askAnswer(state, choose, hint) {
  const kind = state.phase;
  const kinds = { take: "primary", undo: "quiet" };
  const lost = say("point_count", { count: kind === "answer" ? state.cube.value : state.cube.offered / 2 });
  const values = { value: state.cube.offered, lost };
  const buttons = ["take", "drop", "beaver", "undo"]
    .filter((action) => state.can[action])
    .map((action) => {
      const made = button(say(action), () => choose(action), kinds[action]);
      made.dataset.action = action;
      return made;
    });
  if (state.can.hint) buttons.push(button(say("hint"), hint, "quiet"));
  const text = html("p", {}, say(`${kind}_text`, values));
  insist(show("answer", say(`${kind}_title`, values), text, row(...buttons))); // a double has to be answered
}

/** The game, or the match, is over. */
export function tellEnd(state, next, anew) {
  const mine = winner(state) === YOU;
  const title = say(state.match_over ? (mine ? "match_won" : "match_lost") : mine ? "over_won" : "over_lost");
  const end = ending(state);
  const points = end ? `${say("point_count", { count: end.value })} (${say(`level_${end.level}`)})` : say("on_time");
  const [you, bot] = state.score.map((each) => number(each));
  show(
    "over",
    title,
    html("p", { class: "points" }, points),
    html("p", {}, say("score_line", { you, bot })),
    row(
      button(say(state.match_over ? "next_match" : "next_game"), next, "primary"),
      button(say("new_game"), anew),
      button(say("look"), () => close("over"), "quiet"),
    ),
  );
}

/** How much to lose. */
export function askResignation(levels, choose) {
  const offer = (level) => button(say(`resign_${level}`), () => (close("resign"), choose(level)));
  const cancel = button(say("cancel"), () => close("resign"), "quiet");
  show("resign", say("resign_title"), html("p", {}, say("resign_text")), row(...levels.map(offer), cancel));
}

const KEYS = [
  ["key_board", "key_arrows"],
  ["Enter", "key_enter"],
  ["Esc", "key_escape"],
  ["R", "roll"],
  ["D", "double"],
  ["T", "take"],
  ["P", "drop"],
  ["B", "beaver"],
  ["U", "undo"],
  ["H", "hint"],
  ["N", "new_game"],
  ["?", "key_help"],
];

/** How to play on this page. */
export function showHelp() {
  const rows = KEYS.map(([key, what]) => [
    html("dt", {}, html("kbd", {}, key.startsWith("key_") ? say(key) : key)),
    html("dd", {}, say(what)),
  ]);
  const dialog = show(
    "help",
    say("help_title"),
    html("p", {}, say("help_board")),
    html("h3", {}, say("help_keys")),
    html("dl", { class: "keys" }, ...rows),
    row(button(say("close"), () => close("help"), "primary")),
  );
  dialog.scrollTop = 0; // its only button, which has the focus, is at the end
}
