/** All that the page says, in the chosen language. The texts are in a module a language, each key in each of them. */

import bg from "./words.bg.js";
import en from "./words.en.js";
import ru from "./words.ru.js";

const KEPT = "nardy.language";

const texts = { en, ru, bg };
let chosen = "en";

/** Chooses the language: the one chosen before, else the first of the browser's that there is. */
export function chooseLanguage() {
  const wanted = [kept(), ...navigator.languages.map((each) => each.slice(0, 2).toLowerCase()), "en"];
  setLanguage(wanted.find((each) => each in texts), false);
}

/** Says everything in `language` from now on; `keep` remembers it. */
export function setLanguage(language, keep = true) {
  chosen = language;
  document.documentElement.lang = language;
  document.title = say("title");
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  for (const element of document.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", say(element.dataset.label));
    element.title = say(element.dataset.label);
  }
  if (keep) {
    try {
      localStorage.setItem(KEPT, language);
    } catch {
      // Storage may be forbidden; then the choice lasts as long as the page.
    }
  }
}

export const language = () => chosen;

/** `{code: its own name}` of every language. */
export const languages = () => Object.fromEntries(Object.entries(texts).map(([code, words]) => [code, words.language]));

/**
 * The text of `key` with `{names}` replaced; texts with plural forms choose by `values.count`.
 * A key that is not there is a fault of the page and shows as itself.
 */
export function say(key, values = {}) {
  let text = texts[chosen][key] ?? key;
  if (typeof text === "object") text = text[new Intl.PluralRules(chosen).select(values.count)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** Is there such a text? */
export const knows = (key) => key in texts[chosen];

/** A number with `digits` after the point; `signed` writes the plus too. */
export function number(value, digits = 0, signed = false) {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  if (signed) options.signDisplay = "exceptZero";
  return new Intl.NumberFormat(chosen, options).format(value);
}

/** A share as a percentage. */
export function percent(share, digits = 1) {
  const options = { style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(chosen, options).format(share);
}

/** A cube action, put together from the server's English parts. */
export function cubeAction(text) {
  const [whole, reason] = text.split(" (");
  const parts = whole.split(", ").map((part) => {
    const key = `cube_${part.toLowerCase().replaceAll(" ", "_")}`;
    return knows(key) ? say(key) : part;
  });
  const said = parts.join(", ");
  const first = said.charAt(0).toUpperCase() + said.slice(1);
  return reason === undefined ? first : `${first} (${reason}`;
}

/** A play in the usual notation, in which only "pass" is a word. */
export const playText = (text) => (text === "" || text === "pass" ? say("pass") : text);

function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}
