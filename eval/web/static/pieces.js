/** What lies on the board: checkers, dice and the cube, each a group around 0 0, and the paints they share. */

import { svg } from "./elements.js";
import { OFF, RADIUS, SLAB, YOU } from "./geometry.js";

const DIE = 42;
const PIPS = {
  1: [[0, 0]],
  2: [[-1, -1], [1, 1]],
  3: [[-1, -1], [0, 0], [1, 1]],
  4: [[-1, -1], [-1, 1], [1, -1], [1, 1]],
  5: [[-1, -1], [-1, 1], [0, 0], [1, -1], [1, 1]],
  6: [[-1, -1], [-1, 0], [-1, 1], [1, -1], [1, 0], [1, 1]],
};
const NAMES = ["you", "bot"];

const stops = (...pairs) => pairs.map(([offset, colour]) => svg("stop", { offset, "stop-color": colour }));
const linear = (id, vertical, ...pairs) =>
  svg("linearGradient", { id, x1: 0, y1: 0, x2: vertical ? 0 : 1, y2: vertical ? 1 : 0 }, stops(...pairs));
const radial = (id, ...pairs) => svg("radialGradient", { id, cx: 0.36, cy: 0.3, r: 0.78 }, stops(...pairs));

/** Gradients and the grain of the wood, once a picture. */
export function paints() {
  return svg(
    "defs",
    {},
    radial("checker-you", [0, "#6b5f58"], [0.45, "#352f2c"], [1, "#161312"]),
    radial("checker-bot", [0, "#fffdf6"], [0.5, "#f3ead8"], [1, "#c9ba99"]),
    radial("inner-you", [0, "#3a3330"], [0.7, "#2b2624"], [1, "#46403c"]),
    radial("inner-bot", [0, "#e9dfc9"], [0.7, "#f3ead8"], [1, "#fffaf0"]),
    linear("slab-you", true, [0, "#645953"], [0.5, "#2b2624"], [1, "#141110"]),
    linear("slab-bot", true, [0, "#fffdf6"], [0.5, "#f0e6d2"], [1, "#bdad8c"]),
    linear("die-you", true, [0, "#4a423e"], [1, "#231f1d"]),
    linear("die-bot", true, [0, "#fffdf6"], [1, "#e6dbc3"]),
    linear("cube-face", true, [0, "#ffffff"], [1, "#ebe3d2"]),
    linear("wood", true, [0, "#76523b"], [0.08, "#5f412e"], [0.92, "#553928"], [1, "#3f2a1d"]),
    linear("bar-wood", false, [0, "#3f2a1d"], [0.12, "#694833"], [0.5, "#755139"], [0.88, "#5f412e"], [1, "#3a261a"]),
    linear("tray-wood", true, [0, "#2c1d13"], [0.1, "#3e2a1d"], [1, "#4a3323"]),
    linear("felt", true, [0, "#2a5549"], [0.5, "#36685a"], [1, "#2a5549"]),
    linear("point-0", true, [0, "#c7b086"], [1, "#e3d1ac"]),
    linear("point-1", true, [0, "#93492f"], [1, "#b9664b"]),
    linear("dusk", true, [0, "rgba(0,0,0,.42)"], [1, "rgba(0,0,0,0)"]),
    svg(
      "pattern",
      { id: "grain", width: 180, height: 36, patternUnits: "userSpaceOnUse" },
      ["M0 5q45-5 90 1t90-1", "M0 13q60 6 110-1t70 1", "M0 21q30-4 80 2t100-2", "M0 30q70 5 120-1t60 1"].map((d, row) =>
        svg("path", { d, fill: "none", stroke: row % 2 ? "#ffdcb0" : "#1c0f06", "stroke-opacity": 0.1, "stroke-width": 1.4 }),
      ),
    ),
  );
}

/** A checker lying flat; in the trays on its edge. */
export function checker(player, slot) {
  const name = NAMES[player];
  if (slot === OFF) {
    const width = 42;
    const at = { x: -width / 2, y: -SLAB / 2, width, height: SLAB, rx: 3.5 };
    return svg("g", { class: `checker ${name}` }, svg("rect", { ...at, fill: `url(#slab-${name})`, class: "rim" }));
  }
  return svg(
    "g",
    { class: `checker ${name}` },
    svg("ellipse", { cx: 1.5, cy: 4, rx: RADIUS, ry: RADIUS - 0.5, class: "shade" }),
    svg("circle", { r: RADIUS - 1, fill: `url(#checker-${name})`, class: "rim" }),
    svg("circle", { r: RADIUS * 0.66, fill: `url(#inner-${name})`, class: "ring" }),
    svg("path", { d: `M${-RADIUS * 0.7} ${-RADIUS * 0.48}A${RADIUS * 0.85} ${RADIUS * 0.85} 0 0 1 ${RADIUS * 0.3} ${-RADIUS * 0.8}`, class: "gleam" }),
  );
}

/** How many lie in a stack that is not drawn whole. */
export const count = (player, many) => svg("text", { class: `count ${NAMES[player]}` }, String(many));

/** A die; number 0 is one not thrown yet. */
export function die(player, number, used) {
  const name = player === YOU ? "you" : "bot";
  const at = { x: -DIE / 2, width: DIE, height: DIE, rx: 9 };
  const pips = (PIPS[number] ?? []).map(([x, y]) => svg("circle", { cx: 11.5 * x, cy: 11.5 * y, r: 4.3 }));
  return svg(
    "g",
    { class: `die ${name}${used ? " used" : ""}${number ? "" : " blank"}` },
    svg("rect", { ...at, y: 3 - DIE / 2, class: "shade" }),
    svg("rect", { ...at, y: -DIE / 2, fill: `url(#die-${name})`, class: "rim" }),
    ...pips,
  );
}

/** The doubling cube; an untouched one shows 64, as the real one does. */
export function cube(value, offered) {
  const text = value === 1 ? 64 : value;
  const at = { x: -21, width: 42, height: 42, rx: 7 };
  return svg(
    "g",
    { class: `cube${offered ? " offered" : ""}` },
    svg("rect", { ...at, y: -18, class: "shade" }),
    svg("rect", { ...at, y: -21, fill: "url(#cube-face)", class: "rim" }),
    svg("text", { class: text > 99 ? "long" : "" }, String(text)),
  );
}

/** An arrow between two places, bent a little so that arrows there and back differ. */
export function arrow(from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const bend = Math.min(34, length / 6);
  const control = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  const turn = Math.atan2(to.y - control.y, to.x - control.x);
  const neck = { x: to.x - 15 * Math.cos(turn), y: to.y - 15 * Math.sin(turn) };
  const head = [[0, 0], [-20, 11], [-20, -11]].map(([x, y]) => {
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    return `${to.x + x * cos - y * sin},${to.y + x * sin + y * cos}`;
  });
  return svg(
    "g",
    { class: "arrow" },
    svg("path", { d: `M${from.x} ${from.y}Q${control.x} ${control.y} ${neck.x} ${neck.y}` }),
    svg("polygon", { points: head.join(" ") }),
  );
}
