/** What the page says beside the board: to those who hear it, in passing, and when the server is out of reach. */

import { byId } from "./elements.js";
import { sentence } from "./events.js";
import { cubeAction, number, playText, say } from "./words.js";

const TOAST_TIME = 7000; // milliseconds
const BLUNDER = 0.08; // equity

let timer = null;
let again = null;

/** Tells what happened to those who do not see it. */
export function announce(events) {
  if (events.length) byId("said").textContent = events.map(sentence).join(". ");
}

/** Shows `text` for a while, before whatever dialogue is open; `kind` is "good", "bad" or neither. */
export function toast(text, kind = "") {
  const element = byId("toast");
  hideToast();
  element.textContent = text;
  element.className = kind;
  element.hidden = false;
  element.showPopover?.(); // anew, for the last one shown lies on top
  byId("said").textContent += ` ${text}`;
  timer = setTimeout(hideToast, TOAST_TIME);
}

function hideToast() {
  clearTimeout(timer);
  byId("toast").hidden = true;
  if (byId("toast").matches(":popover-open")) byId("toast").hidePopover();
}

/** What the tutor thinks of the last decision. */
export function tutor({ loss, best, done, kind }) {
  if (loss === 0) return toast(say("tutor_good"), "good");
  const words = kind === "cube" ? cubeAction : playText;
  const values = { done: words(done), best: words(best), loss: number(loss, 3) };
  return toast(say("tutor_loss", values), loss > BLUNDER ? "bad" : "");
}

/** The server does not answer: `retry` is what to do once the user says so. Null: it does again. */
export function trouble(retry) {
  again = retry;
  byId("trouble").hidden = retry === null;
  nameTrouble();
}

/** Says it in the language of now. */
export function nameTrouble() {
  byId("trouble").querySelector("span").textContent = say("error_network");
}

/** Makes what is shown here listen. */
export function hearMessages() {
  byId("toast").addEventListener("click", hideToast);
  byId("trouble").querySelector("button").addEventListener("click", () => again?.());
}
