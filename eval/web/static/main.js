/** The page: it shows the server's states and sends back what the person chooses, one request at a time. */

import { Board } from "./board.js";
import { askAnswer, askResignation, close, isOpen, showHelp, tellEnd } from "./dialogs.js";
import { byId, html } from "./elements.js";
import { sentence } from "./events.js";
import { BOT, YOU } from "./geometry.js";
import { giveHands } from "./hands.js";
import { showHint } from "./hints.js";
import { announce, hearMessages, nameTrouble, toast, trouble, tutor } from "./messages.js";
import { travel } from "./motion.js";
import { askNewGame } from "./newgame.js";
import { Panel } from "./panel.js";
import * as server from "./server.js";
import { chooseLanguage, language, languages, say, setLanguage } from "./words.js";

// Actions after which the state tells no news: what happened is that of the answer before.
const QUIET = ["move", "take_back", "undo", "tutor"];

// The buttons under the board and their keys, in order; the first that can be pressed is the one Enter means.
const ACTIONS = [
  { action: "roll", key: "R" },
  { action: "done", key: "Enter" },
  { action: "next", key: "Enter" },
  { action: "take", key: "T" },
  { action: "double", key: "D" },
  { action: "beaver", key: "B" },
  { action: "drop", key: "P" },
];

const board = new Board(byId("board"));
const panel = new Panel(() => refresh());
let state = null;
let choices = null;
let busy = false;
let byKeyboard = false;

/** Runs one request at a time; what fails is told, and nothing stays locked. */
async function working(task) {
  if (busy) return;
  setBusy(true);
  try {
    await task();
    trouble(null);
  } catch (error) {
    if (!(error instanceof server.ServerError)) throw error;
    await failed(error, task);
  } finally {
    setBusy(false);
  }
}

async function failed(error, task) {
  if (error.status === 409 && error.answer?.state) {
    toast(say("error_version"));
    await arrive(error.answer.state, "state");
  } else if (error.status === 404) {
    state = null;
    newGame();
  } else if (error.status === 0 || error.status >= 500) {
    // Whether the server did it is unknown, so the state is asked for, not the action again.
    trouble(choices ? refresh : () => working(task));
    if (isOpen()) toast(say("error_network"), "bad"); // a dialogue hides the rest
    if (state) board.show(state);
  } else {
    toast(say("error_server", { error: error.message }), "bad");
    if (state) board.show(state);
  }
}

const act = (action, more = {}) => working(async () => arrive(await server.act(state.version, action, more), action));
const refresh = () => working(async () => arrive(await server.state(), "state"));

/** Shows a state that has come after `action`; `way` are the moves that led there if they are no news. */
async function arrive(next, action, way = null) {
  const news = action === "state" || QUIET.includes(action) ? [] : next.events;
  if (!isOpen("new") || action === "new" || action === "load") ["answer", "over", "hint", "resign", "new"].forEach(close);
  announce(news);
  if (state) {
    const steps = way ?? played(news, action);
    if (news.length) board.showTable(botsTable(next));
    await travel(board, state, steps, next);
  }
  state = next;
  board.show(state);
  if (news.some((event) => event.kind === "rolled")) board.picture.querySelector(".dice.yours")?.classList.add("thrown");
  panel.show(state);
  buttons();
  tellOf(news);
  openWhatIsDue();
  if (byKeyboard && !isOpen()) focusNext();
}

/** What a look at the board would miss: a roll of yours without a move, and what the tutor thinks. */
function tellOf(news) {
  const passed = news.filter((event) => event.player === YOU && event.text === "pass");
  if (news.length && state.tutor?.verdict) tutor(state.tutor.verdict);
  else if (passed.length) toast(passed.map(sentence).join(". "));
}

/** The moves to be shown among the news. */
function played(news, action) {
  const turns = news.filter((event) => event.kind === "played");
  const rest = action === "done" ? turns.slice(1) : turns; // your own lies on the board when it is confirmed
  return rest.flatMap((event) => event.moves.map((move) => ({ player: event.player, move })));
}

/** The table while the bot moves: its dice and the cube, yours not thrown yet. */
const botsTable = (next) => ({ ...next, can: {}, on_roll: BOT, dice: (next.last?.dice ?? []).map((die) => [die, false]) });

function moveChecker(reach, dragged) {
  if (dragged) board.showCheckers(...moved(reach));
  const way = dragged ? [] : [{ player: YOU, move: [reach.from, reach.to] }];
  working(async () => arrive(await server.act(state.version, "move", { moves: reach.moves }), "move", way));
}

/** A dragged checker lies where it was dropped until the server has answered. */
function moved({ from, to }) {
  const mine = [...state.mine];
  mine[from] -= 1;
  mine[to] += 1;
  return [mine, state.theirs];
}

function openWhatIsDue() {
  if (!state || isOpen("new")) return;
  if (state.phase === "answer" || state.phase === "beavered") askAnswer(state, act, hint);
  else if (state.phase === "over") tellEnd(state, () => act("next"), newGame);
}

const hint = () => working(async () => showHint(await server.hint(), (moves) => board.point(moves)));

function newGame() {
  if (!choices || isOpen("new")) return;
  const begin = (wishes) => working(async () => arrive(await server.begin(wishes), "new"));
  askNewGame(choices, { begin, load: chooseFile, must: state === null });
}

function chooseFile(withTutor) {
  const input = byId("file");
  input.onchange = async () => {
    const [chosen] = input.files;
    input.value = "";
    if (chosen) working(async () => arrive(await server.load(await chosen.text(), withTutor), "load"));
  };
  input.click();
}

const download = (kind) =>
  working(async () => {
    const { name, blob } = await server.file(kind);
    const address = URL.createObjectURL(blob);
    html("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  });

const MENU = {
  new: newGame,
  save: () => download("save"),
  mat: () => download("mat"),
  load: () => chooseFile(state?.tutor?.on ?? false),
  tutor: () => act("tutor", { on: !state.tutor.on }),
  resign: () => askResignation(state.can.resign, (level) => act("resign", { level })),
  help: showHelp,
};

/** Buttons follow the state, and none can be pressed while a request is under way. */
function buttons() {
  const can = state?.can ?? {};
  const asked = state?.phase === "answer" || state?.phase === "beavered"; // in a dialogue
  const possible = asked ? [] : ACTIONS.filter(({ action }) => can[action]);
  const made = possible.map(({ action, key }, place) => {
    const word = action === "next" ? (state.match_over ? "next_match" : "next_game") : action;
    const redoubles = action === "double" && state.cube.owner === YOU;
    return pushButton(action, redoubles ? "redouble" : word, key, place === 0 ? "primary" : "", () => act(action));
  });
  if (can.undo && !asked) made.push(pushButton("undo", can.take_back ? "take_back" : "undo", "U", "", takeBack));
  if (can.hint && !asked) made.push(pushButton("hint", "hint", "H", "", hint));
  const focused = document.activeElement?.dataset?.action;
  byId("buttons").replaceChildren(...made);
  if (focused) byId("buttons").querySelector(`[data-action="${focused}"]`)?.focus();
  for (const item of document.querySelectorAll("[data-menu]")) item.disabled = busy || !menuCan(item.dataset.menu, can);
  const switched = document.querySelector("[data-menu=tutor]");
  switched.setAttribute("aria-checked", Boolean(state?.tutor?.on));
}

function menuCan(item, can) {
  if (item === "tutor") return Boolean(state?.tutor);
  if (item === "resign") return Boolean(can.resign?.length);
  if (item === "save" || item === "mat") return Boolean(can[item]);
  return true;
}

function pushButton(action, word, key, kind, onclick) {
  const face = [html("span", {}, say(word)), html("kbd", { "aria-hidden": "true" }, key === "Enter" ? "↵" : key)];
  const attributes = { type: "button", class: kind, "data-action": action, "aria-keyshortcuts": key, onclick: once(onclick) };
  return html("button", attributes, ...face);
}

/** Not for the second half of a double click, which may hit the button that has come in the place of the first. */
const once = (action) => (event) => event.detail < 2 && action();

const takeBack = () => act(state.can.take_back ? "take_back" : "undo");

function setBusy(now) {
  busy = now;
  document.body.toggleAttribute("data-busy", now);
  buttons();
  // Not truly disabled, which would lose the focus: `working` does nothing meanwhile.
  for (const each of document.querySelectorAll("#buttons button, dialog button")) each.setAttribute("aria-disabled", now);
}

/** After a decision by keyboard the focus goes to the next thing to decide. */
function focusNext() {
  const slot = board.picture.querySelector('.slot[tabindex="0"]');
  (slot ?? byId("buttons").querySelector("button"))?.focus();
}

/** A key's letter wherever it lies: on Cyrillic keyboards that of its place. */
const letter = (event) => (/^[a-z]$/i.test(event.key) ? event.key.toUpperCase() : event.code.replace(/^Key/, ""));

function pressKey(event) {
  byKeyboard = true;
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.closest("input, select, details[open]") || isOpen()) return pressInDialog(event);
  const can = state?.can ?? {};
  const onButton = event.target.closest("button, summary, a");
  if (event.key === "Enter" && !onButton) {
    const meant = ["done", "next"].find((action) => can[action]);
    if (meant && !busy) act(meant);
    return;
  }
  if (event.key === "?") return showHelp();
  if (event.key === "Escape") return board.pick(null);
  const key = letter(event);
  if (key === "N") return newGame();
  if (busy || !state) return;
  if (key === "U" && can.undo) takeBack();
  else if (key === "H" && can.hint) hint();
  else {
    const meant = ACTIONS.find((each) => each.key === key && can[each.action]);
    if (meant) act(meant.action);
  }
}

/** A double is answered by the same letters while its dialogue is open. */
function pressInDialog(event) {
  if (!isOpen("answer") || isOpen("hint") || busy) return;
  const meant = ACTIONS.find((each) => each.key === letter(event) && state.can[each.action]);
  if (meant) act(meant.action);
  else if (letter(event) === "U" && state.can.undo) act("undo");
  else if (letter(event) === "H" && state.can.hint) hint();
}

function speak(chosen) {
  setLanguage(chosen);
  nameTrouble();
  board.nameSlots();
  panel.draw();
  buttons();
}

function listen() {
  const narrow = matchMedia("(max-width: 640px)");
  narrow.addEventListener("change", () => board.lay(narrow.matches));
  board.lay(narrow.matches);
  giveHands(board, {
    may: () => !busy && state !== null,
    move: moveChecker,
    tapDice: () => {
      const meant = ["done", "roll"].find((action) => state?.can[action]);
      if (meant && !busy) act(meant);
    },
  });
  document.addEventListener("keydown", pressKey);
  document.addEventListener("pointerdown", (event) => {
    byKeyboard = false;
    if (!event.target.closest("#menu")) byId("menu").open = false;
  });
  byId("menu").addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    byId("menu").open = false;
    byId("menu").querySelector("summary").focus();
  });
  byId("menu").addEventListener("click", (event) => {
    const item = event.target.closest("[data-menu]")?.dataset.menu;
    if (!item) return;
    byId("menu").open = false;
    MENU[item]();
  });
  byId("new").addEventListener("click", newGame);
  hearMessages();
  const select = byId("language");
  select.append(...Object.entries(languages()).map(([code, name]) => html("option", { value: code }, name)));
  select.value = language();
  select.addEventListener("change", () => speak(select.value));
}

chooseLanguage();
listen();
working(async () => {
  choices = await server.choices();
  await arrive(await server.state(), "state");
});
