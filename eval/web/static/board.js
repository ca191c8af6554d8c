/**
 * The board as a picture: what the server's state shows, drawn anew for every state.
 *
 * It also shows what is chosen (`pick`), where that may go, arrows and the slots that a keyboard reaches. What touching
 * it means is said in `hands.js`, how checkers travel in `motion.js`.
 */

import { svg } from "./elements.js";
import { BAR, BOT, measures, OFF, isUpper, pointX, RADIUS, shown, slotAt, spot, YOU, zone } from "./geometry.js";
import { arrow, checker, count, cube, die, paints } from "./pieces.js";
import { say } from "./words.js";

const LAYERS = ["ground", "under", "pieces", "over", "table", "slots"];

export class Board {
  /** Draws into the `<svg>` element `picture`. */
  constructor(picture) {
    this.picture = picture;
    this.state = null;
    this.picked = null;
    this.arrows = [];
    this.narrow = null;
    this.layers = {};
    this.slots = new Map();
  }

  /** Lays the empty board, for a phone's width or a wide one; nothing happens if it is laid so already. */
  lay(narrow) {
    if (this.narrow === narrow) return;
    this.narrow = narrow;
    this.at = measures(narrow);
    this.picture.setAttribute("viewBox", `0 0 ${this.at.width} ${this.at.height}`);
    this.picture.replaceChildren(paints());
    for (const name of LAYERS) {
      this.layers[name] = svg("g", { class: name });
      this.picture.append(this.layers[name]);
    }
    this.layers.ground.append(...ground(this.at));
    this.#laySlots();
    if (this.state) this.show(this.state);
  }

  /** Draws `state`; nothing is picked then. */
  show(state) {
    this.state = state;
    this.picked = null;
    this.arrows = [];
    this.layers.pieces.replaceChildren(...this.#pieces(state.mine, YOU), ...this.#pieces(state.theirs, BOT));
    this.layers.table.replaceChildren(...this.#table(state));
    this.#mark();
  }

  /** Draws only the checkers, on the way from one state to the next. */
  showCheckers(mine, theirs) {
    this.layers.under.replaceChildren();
    this.layers.over.replaceChildren();
    this.layers.pieces.replaceChildren(...this.#pieces(mine, YOU), ...this.#pieces(theirs, BOT));
  }

  /** Draws only dice and cube, as `state` has them. */
  showTable(state) {
    this.layers.table.replaceChildren(...this.#table(state));
  }

  /** Takes up the checker on `slot`, or with null puts it back. */
  pick(slot) {
    if (!this.state) return;
    this.picked = slot;
    this.#mark();
  }

  /** Shows one of your plays by arrows: `moves` as pairs of slots; none takes them away. */
  point(moves) {
    this.arrows = arrowsOf(this.at, this.state.mine, moves);
    this.#mark();
  }

  /** The slots a checker may leave, or those where the picked one may go. */
  sources = () => [...new Set((this.state?.reach ?? []).map((each) => each.from))];
  targets = (from = this.picked) => (this.state?.reach ?? []).filter((each) => each.from === from).map((each) => each.to);

  /** The slot under a pointer, or null; and the same in the picture's units. */
  slotUnder = (event) => slotAt(this.at, ...Object.values(this.place(event)));
  place(event) {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.picture.getScreenCTM().inverse());
    return { x: place.x, y: place.y };
  }

  /** The drawn checker on top of a slot. */
  top(player, slot) {
    return [...this.layers.pieces.querySelectorAll(`[data-slot="${player}-${slot}"]`)].at(-1) ?? null;
  }

  /** Names the slots again, in the language of now. */
  nameSlots() {
    if (!this.state) return;
    for (const [slot, element] of this.slots) element.setAttribute("aria-label", this.#name(slot));
  }

  #pieces(counts, player) {
    const drawn = [];
    counts.forEach((many, slot) => {
      for (let index = 0; index < shown(this.at, slot, many); index += 1) {
        const { x, y } = spot(this.at, player, slot, index);
        const piece = checker(player, slot);
        piece.setAttribute("transform", `translate(${x} ${y})`);
        piece.dataset.slot = `${player}-${slot}`;
        if (slot !== OFF && index === shown(this.at, slot, many) - 1 && many > index + 1) piece.append(count(player, many));
        drawn.push(piece);
      }
      if (slot === OFF && many > 0) drawn.push(this.#offCount(player, many));
    });
    return drawn;
  }

  #offCount(player, many) {
    const y = player === YOU ? this.at.middle + 20 : this.at.middle - 20;
    return svg("text", { x: this.at.trayX, y, class: "off-count" }, String(many));
  }

  #table(state) {
    const { at } = this;
    const drawn = [];
    if (state.cube_used) {
      const piece = cube(state.cube.offered || state.cube.value, state.cube.offered > 0);
      const { x, y } = cubeSpot(at, state);
      piece.setAttribute("transform", `translate(${x} ${y})`);
      drawn.push(piece);
    }
    const waits = state.can.roll ? [[0, false], [0, false]] : [];
    const yours = dice(at, YOU, state.on_roll === YOU && state.dice.length ? state.dice : waits);
    yours.classList.toggle("ready", state.can.done || state.can.roll);
    drawn.push(yours);
    if (state.on_roll === BOT && state.dice.length) drawn.push(dice(at, BOT, state.dice));
    else if (state.last?.player === BOT && state.last.dice) drawn.push(dice(at, BOT, state.last.dice.map((each) => [each, true])));
    return drawn;
  }

  /** Marks what may be touched, what is picked and where it may go, and draws the arrows. */
  #mark() {
    const { at, state } = this;
    const sources = this.sources();
    const targets = this.picked === null ? [] : this.targets();
    const under = [];
    const over = [];
    for (const slot of sources) {
      if (this.picked !== null && slot !== this.picked) continue;
      const { x, y } = spot(at, YOU, slot, shown(at, slot, state.mine[slot]) - 1);
      over.push(svg("circle", { cx: x, cy: y, r: RADIUS - 0.5, class: slot === this.picked ? "picked" : "movable" }));
    }
    for (const slot of targets) {
      under.push(glow(at, slot));
      if (slot === OFF) continue;
      const { x, y } = spot(at, YOU, slot, state.mine[slot]);
      over.push(svg("circle", { cx: x, cy: y, r: 11, class: "target" }));
    }
    const last = this.arrows.length || state.last?.player !== BOT || state.can.take_back ? [] : state.last.moves;
    over.push(...trail(at, state.theirs, last));
    this.layers.under.replaceChildren(...under);
    this.layers.over.replaceChildren(...over, ...this.arrows);
    this.#openSlots(this.picked === null ? sources : [...new Set([this.picked, ...targets])]);
    this.nameSlots();
  }

  #laySlots() {
    this.slots.clear();
    for (const slot of [...Array(24).keys()].map((each) => 24 - each).concat(BAR, OFF)) {
      const element = svg("g", { class: "slot", role: "button", tabindex: -1, "data-slot": slot });
      element.append(svg("rect", { ...zone(this.at, slot), rx: 6 }));
      this.slots.set(slot, element);
      this.layers.slots.append(element);
    }
  }

  /** Only `open` slots act; one of them is what Tab comes to, arrow keys lead to the others. */
  #openSlots(open) {
    const focused = [...this.slots].find(([, element]) => element === document.activeElement)?.[0];
    const entry = open.includes(focused) ? focused : (open[0] ?? null);
    for (const [slot, element] of this.slots) {
      const acts = open.includes(slot);
      element.setAttribute("tabindex", slot === entry ? 0 : -1);
      element.setAttribute("aria-disabled", !acts);
      element.setAttribute("aria-pressed", slot === this.picked);
      element.classList.toggle("open", acts);
    }
  }

  #name(slot) {
    const { mine, theirs } = this.state;
    const where = slot === BAR ? say("slot_bar") : slot === OFF ? say("slot_off") : say("slot_point", { point: slot });
    const held = [];
    if (mine[slot]) held.push(say("held_yours", { count: mine[slot] }));
    if (theirs[slot]) held.push(say("held_bots", { count: theirs[slot] }));
    const use = this.picked !== null && this.targets().includes(slot) ? `, ${say("slot_target")}` : "";
    return `${where}: ${held.join(", ") || say("held_none")}${use}`;
  }
}

function ground(at) {
  const box = (x, y, width, height, more) => svg("rect", { x, y, width, height, ...more });
  const drawn = [
    box(0, 0, at.width, at.height, { fill: "url(#wood)", rx: 12 }),
    box(0, 0, at.width, at.height, { fill: "url(#grain)", rx: 12 }),
    box(1.5, 1.5, at.width - 3, at.height - 3, { class: "bevel", rx: 11 }),
  ];
  for (const x of [at.left, at.right]) drawn.push(box(x, at.top, at.half, at.field, { fill: "url(#felt)" }));
  for (let point = 1; point <= 24; point += 1) drawn.push(...pointShapes(at, point));
  for (const x of [at.left, at.right]) {
    drawn.push(box(x, at.top, at.half, 16, { fill: "url(#dusk)" }));
    drawn.push(box(x - 0.75, at.top - 0.75, at.half + 1.5, at.field + 1.5, { class: "inlay" }));
  }
  const barLeft = at.left + at.half;
  drawn.push(box(barLeft, at.top, at.barWidth, at.field, { fill: "url(#bar-wood)" }));
  drawn.push(box(at.barX - 1, at.top, 2, at.field, { class: "hinge" }));
  for (const y of [at.top, at.middle + 38]) {
    const tray = { fill: "url(#tray-wood)", rx: 6, class: "tray" };
    drawn.push(box(at.trayLeft, y, at.trayWidth, at.field / 2 - 38, tray));
    drawn.push(box(at.trayLeft, y, at.trayWidth, 12, { fill: "url(#dusk)", rx: 6 }));
  }
  return drawn;
}

function pointShapes(at, point) {
  const x = pointX(at, point);
  const [edge, down] = isUpper(point) ? [at.top, 1] : [at.bottom, -1];
  const half = at.pointWidth / 2 - 1.5;
  const corners = `${x - half},${edge} ${x + half},${edge} ${x},${edge + down * at.pointHeight}`;
  return [
    svg("polygon", { points: corners, fill: `url(#point-${point % 2})`, class: "point" }),
    svg("text", { x, y: edge - (down * at.frame) / 2, class: "number", "font-size": at.number }, String(point)),
  ];
}

function dice(at, player, numbers) {
  const centre = (player === YOU ? at.right : at.left) + at.half / 2;
  const group = svg("g", { class: `dice ${player === YOU ? "yours" : "bots"}` });
  const width = numbers.length * 54;
  group.append(svg("rect", { x: centre - width / 2, y: at.middle - 26, width, height: 52, fill: "transparent" }));
  numbers.forEach(([number, used], place) => {
    const piece = die(player, number, used);
    const x = centre + (place - (numbers.length - 1) / 2) * 54;
    group.append(svg("g", { transform: `translate(${x} ${at.middle})` }, piece));
  });
  return group;
}

function cubeSpot(at, state) {
  const { offered, owner } = state.cube;
  if (offered) return { x: (state.phase === "answer" ? at.right : at.left) + at.half / 2, y: at.middle };
  if (owner === null) return { x: at.barX, y: at.middle };
  return { x: at.barX, y: owner === YOU ? at.bottom - 27 : at.top + 27 };
}

function glow(at, slot) {
  if (slot === OFF) {
    const { x, y, width, height } = zone(at, slot);
    return svg("rect", { x, y: y + 12, width, height: height - 12, rx: 6, class: "glow tray-glow" });
  }
  const x = pointX(at, slot);
  const [edge, down] = isUpper(slot) ? [at.top, 1] : [at.bottom, -1];
  const half = at.pointWidth / 2;
  return svg("polygon", { points: `${x - half},${edge} ${x + half},${edge} ${x},${edge + down * (at.pointHeight + 6)}`, class: "glow" });
}

/** Where the bot's last moves led: a ring on each checker that arrived, a faint one where it left. */
function trail(at, counts, moves) {
  const ring = (slot, index, kind) => {
    const { x, y } = spot(at, BOT, slot, index);
    return svg("circle", { cx: x, cy: y, r: RADIUS - 2, class: kind });
  };
  const left = new Map();
  const came = new Map();
  for (const [from, to] of moves) {
    if (came.get(from)) came.set(from, came.get(from) - 1);
    else left.set(from, (left.get(from) ?? 0) + 1);
    came.set(to, (came.get(to) ?? 0) + 1);
  }
  const drawn = [];
  for (const [slot, many] of left) {
    const first = shown(at, slot, counts[slot]);
    for (let index = 0; index < many && first + index < at.stack; index += 1) drawn.push(ring(slot, first + index, "left"));
  }
  for (const [slot, many] of came) {
    const top = shown(at, slot, counts[slot]);
    if (slot === OFF) continue;
    for (let index = Math.max(0, top - many); index < top; index += 1) drawn.push(ring(slot, index, "came"));
  }
  return drawn;
}

/** One move after the other, each from the checker that moves to where it comes to lie. */
function arrowsOf(at, mine, moves) {
  const held = [...mine];
  return moves.map(([from, to]) => {
    const begin = spot(at, YOU, from, Math.max(0, held[from] - 1)); // 0 if it was already moved
    const end = spot(at, YOU, to, held[to]);
    held[from] -= 1;
    held[to] += 1;
    return arrow(begin, end);
  });
}
