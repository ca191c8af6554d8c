/** Checkers on their way: the moves between two states, one after the other, where they explain the difference. */

import { BAR, BOT, OFF, shown, spot, YOU } from "./geometry.js";

const STEP_TIME = 260; // milliseconds a move
const PAUSE = 160;

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden;

/**
 * Shows how `before` became `after` by `steps`, each `{player, move: [from, to]}`. Nothing is shown if the steps do not
 * lead there (after an undo, or into a new game): the page knows no rules, so it does not guess.
 */
export async function travel(board, before, steps, after) {
  if (still() || steps.length === 0) return;
  const counts = [[...before.mine], [...before.theirs]];
  const frames = [];
  for (const { player, move } of steps) {
    if (counts[player][move[0]] < 1) return;
    frames.push({ player, move, counts: counts.map((each) => [...each]) });
    advance(counts, player, move);
  }
  if (!same(counts[YOU], after.mine) || !same(counts[BOT], after.theirs)) return;
  let mover = null;
  for (const frame of frames) {
    if (mover !== null && frame.player !== mover) await pause(PAUSE);
    mover = frame.player;
    await slide(board, frame);
  }
}

/** One move; a checker alone where another lands goes to its bar. */
function advance(counts, player, [from, to]) {
  counts[player][from] -= 1;
  counts[player][to] += 1;
  const other = counts[1 - player];
  if (to !== OFF && to !== BAR && other[to] === 1) {
    other[to] = 0;
    other[BAR] += 1;
  }
}

async function slide(board, { player, move: [from, to], counts }) {
  board.showCheckers(counts[YOU], counts[BOT]);
  const piece = board.top(player, from);
  if (!piece) return;
  piece.parentNode.append(piece);
  const begin = spot(board.at, player, from, shown(board.at, from, counts[player][from]) - 1);
  const end = spot(board.at, player, to, counts[player][to]);
  const frames = [begin, end].map(({ x, y }) => ({ transform: `translate(${x}px, ${y}px)` }));
  piece.removeAttribute("transform");
  const run = piece.animate(frames, { duration: STEP_TIME, easing: "cubic-bezier(.45,.05,.35,1)", fill: "both" });
  await Promise.race([run.finished.catch(() => null), pause(2 * STEP_TIME)]);
}

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
const same = (one, other) => one.every((each, index) => each === other[index]);
