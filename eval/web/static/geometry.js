/** Where things lie on the board, in the units of its picture. Slots are your numbers: 1 to 24, 25 the bar, 0 off. */

export const BAR = 25;
export const OFF = 0;
export const YOU = 0;
export const BOT = 1;

const POINT = 52; // width of a point
export const RADIUS = 24; // of a checker
const STEP = 2 * RADIUS - 1;
const BAR_STACK = 3;
export const SLAB = 11; // height of a checker that was borne off

// Lengths; `stack` is how many checkers of a point are drawn, a number tells of more.
const WIDE = { frame: 30, bar: 60, tray: 64, gap: 12, field: 540, point: 222, number: 15, stack: 5 };
const NARROW = { frame: 28, bar: 48, tray: 50, gap: 8, field: 720, point: 290, number: 20, stack: 6 };

/** The measures of a wide screen's board or of a phone's, which is taller. */
export function measures(narrow) {
  const given = narrow ? NARROW : WIDE;
  const half = 6 * POINT;
  const left = given.frame;
  const right = left + half + given.bar;
  const tray = right + half + given.gap;
  const top = given.frame;
  return {
    narrow,
    pointWidth: POINT,
    pointHeight: given.point,
    half,
    left,
    right,
    barWidth: given.bar,
    barX: left + half + given.bar / 2,
    trayLeft: tray,
    trayWidth: given.tray,
    trayX: tray + given.tray / 2,
    top,
    bottom: top + given.field,
    middle: top + given.field / 2,
    field: given.field,
    frame: given.frame,
    number: given.number,
    stack: given.stack,
    width: tray + given.tray + given.gap,
    height: given.field + 2 * given.frame,
  };
}

/** Is this point in the upper half? */
export const isUpper = (point) => point > 12;

/** The middle of a point, from the left. */
export function pointX(at, point) {
  const column = isUpper(point) ? point - 13 : 12 - point;
  return at.left + column * POINT + POINT / 2 + (column > 5 ? at.barWidth : 0);
}

/** How many checkers of a slot are drawn one by one. */
export function shown(at, slot, count) {
  if (slot === OFF) return count;
  return Math.min(count, slot === BAR ? BAR_STACK : at.stack);
}

/** The middle of checker number `index`, from 0, of a slot; on the bar a side waits in the half where it enters. */
export function spot(at, player, slot, index) {
  if (slot === OFF) {
    const up = player === YOU ? -1 : 1;
    const edge = player === YOU ? at.bottom : at.top;
    return { x: at.trayX, y: edge + up * (8 + SLAB / 2 + index * (SLAB + 1.5)) };
  }
  if (slot === BAR) {
    const up = player === YOU ? -1 : 1;
    return { x: at.barX, y: at.middle + up * (52 + Math.min(index, BAR_STACK - 1) * (STEP - 4)) };
  }
  const edge = isUpper(slot) ? at.top : at.bottom;
  const down = isUpper(slot) ? 1 : -1;
  return { x: pointX(at, slot), y: edge + down * (RADIUS + 1.5 + Math.min(index, at.stack - 1) * STEP) };
}

/** The rectangle in which a slot is touched. */
export function zone(at, slot) {
  if (slot === BAR) return { x: at.left + at.half, y: at.top, width: at.barWidth, height: at.field };
  const height = at.field / 2 - 26; // the dice lie between the halves
  if (slot === OFF) return { x: at.trayLeft, y: at.bottom - height, width: at.trayWidth, height };
  const x = pointX(at, slot) - POINT / 2;
  return { x, y: isUpper(slot) ? at.top : at.bottom - height, width: POINT, height };
}

/** The slot under a place, or null. */
export function slotAt(at, x, y) {
  for (let slot = 0; slot <= BAR; slot += 1) {
    const each = zone(at, slot);
    if (x >= each.x && x < each.x + each.width && y >= each.y && y < each.y + each.height) return slot;
  }
  return null;
}
