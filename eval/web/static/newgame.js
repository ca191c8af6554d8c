/** The dialogue for a new game. What cannot be combined is greyed, as the server would refuse it. */

import { button, close, insist, row, show } from "./dialogs.js";
import { html } from "./elements.js";
import { levelName } from "./panel.js";
import { number, say } from "./words.js";

const KEPT = "nardy.wishes";

/**
 * Asks for a game among `choices`; `begin` gets the wishes, `load` opens a saved game with the level and tutor of the
 * dialogue. `must` is true when there is no game to go back to.
 */
export function askNewGame(choices, { begin, load, must }) {
  const kept = keptWishes();
  const disciplines = choices.disciplines.map((each) => [each.name, say(each.name)]);
  const fields = {
    discipline: select("discipline", disciplines, kept.discipline),
    length: select("length", choices.lengths.map((each) => [String(each), lengthName(each)]), String(kept.length ?? 5)),
    level: select("level", [], null),
    cube: check("cube", kept.cube ?? true),
    jacoby: check("jacoby", kept.jacoby ?? false),
    beavers: check("beavers", kept.beavers ?? false),
    clock: select("clock", choices.clocks.map((each) => [JSON.stringify(each), clockName(each)]), JSON.stringify(kept.clock ?? null)),
    tutor: check("tutor", kept.tutor ?? false),
    position: html("input", { id: "new-position", autocomplete: "off", spellcheck: "false", maxlength: 200, placeholder: say("optional") }),
    seed: html("input", { id: "new-seed", inputmode: "numeric", pattern: "[0-9]{0,15}", autocomplete: "off", placeholder: say("optional") }),
  };

  const fit = () => {
    const chosen = choices.disciplines.find((each) => each.name === fields.discipline.value);
    const before = fields.level.value || kept.level;
    fields.level.replaceChildren(...chosen.levels.map((each) => option([each.name, levelName(each.name)], before)));
    const money = fields.length.value === "0";
    fields.clock.disabled = money;
    for (const rule of ["jacoby", "beavers"]) fields[rule].disabled = !(money && fields.cube.checked);
  };

  const wishes = () => ({
    discipline: fields.discipline.value,
    length: Number(fields.length.value),
    cube: fields.cube.checked,
    jacoby: fields.jacoby.checked && !fields.jacoby.disabled,
    beavers: fields.beavers.checked && !fields.beavers.disabled,
    clock: fields.clock.disabled ? null : JSON.parse(fields.clock.value),
    level: fields.level.value,
    tutor: fields.tutor.checked,
    seed: fields.seed.value === "" ? null : Number(fields.seed.value),
    position: fields.position.value.trim() || null,
  });

  const form = html(
    "form",
    { method: "dialog", onsubmit: (event) => (event.preventDefault(), keepWishes(wishes()), begin(wishes())) },
    html("div", { class: "fields" }, ...["discipline", "length", "clock"].map((name) => labelled(name, fields[name]))),
    html("div", { class: "fields" }, labelled("opponent", fields.level)),
    html("div", { class: "checks" }, ...[["cube", "cube"], ["jacoby", "jacoby_rule"], ["beavers", "beavers_rule"], ["tutor", "tutor_on"]].map(([name, text]) => html("label", {}, fields[name], html("span", {}, say(text))))),
    html("details", {}, html("summary", {}, say("more")), html("div", { class: "fields" }, labelled("seed", fields.seed), labelled("position", fields.position))),
    row(
      html("button", { type: "submit", class: "primary" }, say("start")),
      button(say("file_load"), () => load(fields.tutor.checked), "quiet"),
      must ? null : button(say("cancel"), () => close("new"), "quiet"),
    ),
  );
  form.addEventListener("change", fit);
  fit();
  const dialog = show("new", say("new_game"), form);
  if (must) insist(dialog);
}

function select(name, options, chosen) {
  return html("select", { id: `new-${name}` }, ...options.map((each) => option(each, chosen)));
}

const option = ([value, text], chosen) => html("option", { value, selected: value === chosen }, text);
const check = (name, checked) => html("input", { type: "checkbox", id: `new-${name}`, checked });
const labelled = (name, field) => html("label", {}, html("span", {}, say(name)), field);
const lengthName = (length) => (length ? say("match_to", { count: length }) : say("money"));
const clockName = (clock) =>
  clock ? say("clock_time", { bank: number(clock.bank / 60), increment: number(clock.increment) }) : say("clock_none");

function keptWishes() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

function keepWishes(wishes) {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...wishes, seed: null, position: null }));
  } catch {
    // Storage may be forbidden; then the dialogue begins anew each time.
  }
}
