/** The hint: the best plays with their equities, and what the cube is worth. */

import { button, close, row, show } from "./dialogs.js";
import { html } from "./elements.js";
import { cubeAction, number, percent, playText, say } from "./words.js";

/** Shows `hint`; `point` gets the moves of a play to be shown on the board. */
export function showHint(hint, point) {
  const content = [];
  if (hint.plays.length) content.push(html("p", {}, say("hint_plays", { count: hint.num_plays })), plays(hint.plays, point));
  if (hint.cube) content.push(...cube(hint.cube));
  if (!content.length) content.push(html("p", {}, say("hint_none")));
  show("hint", say("hint_title"), ...content, row(button(say("close"), () => close("hint"), "primary")));
}

function plays(ranked, point) {
  const match = ranked.some((each) => each.chance !== null && each.chance !== undefined);
  const keys = ["hint_play", ...(match ? ["hint_chance"] : []), "hint_equity", "hint_difference", "hint_wins", "hint_gammons"];
  const kind = (place) => (place < keys.length - 2 ? null : "extra"); // not on a phone
  const head = html("tr", {}, ...keys.map((key, place) => html("th", { scope: "col", class: kind(place) }, say(key))));
  const rows = ranked.map((each) => {
    const text = playText(each.play);
    const label = say("hint_show", { play: text });
    const chosen = html("button", { type: "button", class: "play", title: label, onclick: () => (close("hint"), point(each.moves)) }, text);
    const cells = [
      ...(match ? [percent(each.chance, 2)] : []),
      number(each.equity, 3, true),
      each.rank === 1 ? "" : number(-Math.abs(each.difference), 3),
      percent(wins(each.outcome)),
      percent(each.outcome[1] + each.outcome[2]),
    ];
    return html("tr", {}, html("td", {}, chosen), ...cells.map((cell, place) => html("td", { class: kind(place + 1) }, cell)));
  });
  return html("div", { class: "wide" }, html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows)));
}

function cube(found) {
  const lines = [["no_double", found.no_double], ["double_take", found.double_take], ["double_drop", found.double_pass]];
  const worth = lines.filter(([, equity]) => equity !== null && equity !== undefined);
  const rows = worth.map(([key, equity], place) => {
    const chance = found.chances ? html("td", {}, percent(found.chances[place], 2)) : null;
    return html("tr", {}, html("th", { scope: "row" }, say(key)), html("td", {}, number(equity, 3, true)), chance);
  });
  const said = [html("p", { class: "verdict" }, `${say("hint_cube")}: `, html("strong", {}, cubeAction(found.action)))];
  if (found.available !== false && rows.length) said.push(html("table", { class: "worth" }, html("tbody", {}, ...rows)));
  if (found.outcome) {
    const [, gammon, backgammon, , lostGammon, lostBackgammon] = found.outcome;
    const shares = [
      [say("hint_wins"), wins(found.outcome)],
      [say("hint_gammons"), gammon + backgammon],
      [say("hint_losses"), lostGammon + lostBackgammon],
    ];
    said.push(html("p", { class: "shares" }, shares.map(([what, share]) => `${what} ${percent(share)}`).join(" · ")));
  }
  return said;
}

const wins = (outcome) => outcome[0] + outcome[1] + outcome[2];
