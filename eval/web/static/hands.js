/** Moving checkers by pointer and by keyboard. The server said where each may go; this only finds out what is meant. */

import { OFF, YOU, zone } from "./geometry.js";

const SLACK = 5; // pixels a press may stray and still be a click
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Lets `board` be touched. `may()` says whether anything may be done now, `move(reach, dragged)` makes one of the
 * state's moves, `tapDice()` is a click on the dice.
 */
export function giveHands(board, { may, move, tapDice }) {
  const { picture } = board;
  let press = null;

  const go = (from, to, dragged = false) => {
    const found = board.state.reach.find((each) => each.from === from && each.to === to);
    board.pick(null);
    if (found) move(found, dragged);
  };

  /** A click or Enter on a slot: take up, put back, or go there; again on the picked one: the larger die. */
  const choose = (slot) => {
    if (board.picked !== null && board.targets().includes(slot)) return go(board.picked, slot);
    if (board.picked !== null && board.picked === slot) return goFarthest(slot);
    return board.pick(board.sources().includes(slot) ? slot : null);
  };

  const goFarthest = (from) => {
    const single = board.state.reach.filter((each) => each.from === from && each.moves.length === 1);
    const farthest = single.sort((one, other) => one.to - other.to)[0];
    return farthest ? go(from, farthest.to) : board.pick(null);
  };

  const lift = () => {
    press.piece = board.top(YOU, press.slot);
    press.home = press.piece.getAttribute("transform");
    press.piece.classList.add("dragged");
    press.piece.parentNode.append(press.piece);
    board.pick(press.slot);
  };

  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.isPrimary) return;
    if (event.target.closest?.(".dice.ready")) return tapDice();
    if (!may()) return;
    const slot = board.slotUnder(event);
    press = { id: event.pointerId, slot, x: event.clientX, y: event.clientY, source: board.sources().includes(slot) };
    if (press.source && board.state.mine[slot]) picture.setPointerCapture(event.pointerId);
  });

  // A finger on a checker that may move drags it; elsewhere it scrolls the page. (Browsers heed `touch-action` on whole
  // pictures only, not on what is in them.)
  const hold = (event) => press?.source && event.preventDefault();
  picture.addEventListener("touchstart", hold, { passive: false });

  picture.addEventListener("pointermove", (event) => {
    if (!press?.source || press.id !== event.pointerId) return;
    const strayed = Math.hypot(event.clientX - press.x, event.clientY - press.y) > SLACK;
    if (!press.piece && strayed) lift();
    if (!press.piece) return;
    const { x, y } = board.place(event);
    press.piece.setAttribute("transform", `translate(${x} ${y})`);
  });

  picture.addEventListener("pointerup", (event) => {
    if (press?.id !== event.pointerId) return;
    const { slot, piece, home } = press;
    press = null;
    if (!may()) return;
    const under = board.slotUnder(event);
    if (!piece) {
      if (under !== null && under === slot) choose(slot);
      else board.pick(null);
      return;
    }
    piece.classList.remove("dragged");
    if (board.targets(slot).includes(under)) return go(slot, under, true);
    piece.setAttribute("transform", home);
    board.pick(null);
  });

  picture.addEventListener("pointercancel", () => {
    if (press?.piece) board.show(board.state);
    press = null;
  });

  // A click without a pointer is an assistive program's.
  picture.addEventListener("click", (event) => {
    const slot = slotOf(event.target);
    if (event.detail === 0 && slot !== null && may()) choose(slot);
  });

  picture.addEventListener("keydown", (event) => {
    const slot = slotOf(event.target);
    if (slot === null || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in ARROWS) {
      step(board, slot, ARROWS[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
      if (event.target.getAttribute("aria-disabled") === "true") return;
      if (may()) choose(slot);
    } else if (event.key === "Escape" && board.picked !== null) {
      const back = board.picked;
      board.pick(null);
      board.slots.get(back).focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
}

const slotOf = (element) => {
  const found = element.closest?.(".slot");
  return found ? Number(found.dataset.slot) : null;
};

/** The focus goes to the nearest open slot in a direction. */
function step(board, slot, [dx, dy]) {
  const middle = (each) => {
    const { x, y, width, height } = zone(board.at, each);
    return { x: x + width / 2, y: each === OFF ? board.at.bottom - height / 2 : y + height / 2 };
  };
  const here = middle(slot);
  let best = null;
  for (const [each, element] of board.slots) {
    if (each === slot || !element.classList.contains("open")) continue;
    const there = middle(each);
    const along = (there.x - here.x) * dx + (there.y - here.y) * dy;
    const aside = Math.abs((there.x - here.x) * dy) + Math.abs((there.y - here.y) * dx);
    if (along > 1 && (best === null || along + 2 * aside < best.cost)) best = { element, cost: along + 2 * aside };
  }
  if (!best) return;
  for (const element of board.slots.values()) element.setAttribute("tabindex", element === best.element ? 0 : -1);
  best.element.focus();
}
