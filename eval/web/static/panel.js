/** What stands around the board: both players with score, pips and clock, whose turn it is, and the game so far. */

import { html, byId } from "./elements.js";
import { sentence } from "./events.js";
import { BOT, YOU } from "./geometry.js";
import { number, say } from "./words.js";

const TICK = 250; // milliseconds

export class Panel {
  /** `flagFalls` is called once when a clock that runs here comes to 0. */
  constructor(flagFalls) {
    this.flagFalls = flagFalls;
    this.state = null;
    setInterval(() => this.#tick(), TICK);
  }

  /** Shows `state`, which has just come. */
  show(state) {
    this.state = state;
    this.came = performance.now();
    this.fallen = false;
    this.draw();
  }

  /** Draws it again, in the language of now. */
  draw() {
    const { state } = this;
    if (!state) return;
    this.#player("bot", BOT);
    this.#player("you", YOU);
    byId("match").textContent = matchLine(state);
    byId("turn").textContent = say(turnKey(state));
    this.#log();
    this.#tick();
  }

  #player(name, player) {
    const { state } = this;
    const level = player === BOT ? html("small", {}, levelName(state.level ?? state.bot)) : null;
    const row = (key, value, kind) => html("div", { class: kind }, html("dt", {}, say(key)), html("dd", {}, value));
    const facts = html(
      "dl",
      {},
      row("score", scoreText(state, player), "score"),
      row("pips", String(state.pips[player]), "pips"),
      state.clock ? row("clock", "", "clock") : null,
    );
    const heading = html("h2", {}, html("i", { class: `disc ${name}` }), html("span", {}, say(name), level));
    const section = byId(name);
    section.classList.toggle("on-roll", state.on_roll === player && state.phase !== "over");
    section.dataset.thinking = say("thinking");
    section.replaceChildren(heading, facts);
  }

  #log() {
    const events = this.state.log.filter((event) => event.kind !== "rolled");
    const list = byId("log").querySelector("ol");
    const items = events.map((event) => html("li", { class: event.player === YOU ? "you" : "bot" }, sentence(event)));
    list.replaceChildren(...(items.length ? items : [html("li", { class: "empty" }, say("log_empty"))]));
    list.scrollTop = list.scrollHeight;
  }

  #tick() {
    const clock = this.state?.clock;
    if (!clock) return;
    const gone = (performance.now() - this.came) / 1000;
    for (const player of [YOU, BOT]) {
      const left = Math.max(0, clock.left[player] - (clock.running === player ? gone : 0));
      const shown = byId(player === YOU ? "you" : "bot").querySelector(".clock dd");
      if (shown) shown.textContent = clockText(left);
      shown?.classList.toggle("short", left < 20);
      if (left === 0 && clock.running === player && !this.fallen) {
        this.fallen = true;
        this.flagFalls();
      }
    }
  }
}

/** The name of a level in the chosen language. */
export function levelName(level) {
  const [kind, name] = level.includes(":") ? level.split(/:(.*)/s) : [level, level];
  return ["model", "pipcount", "random"].includes(kind) ? say(`level_${kind}`, { name }) : level;
}

/** Minutes and seconds. */
export function clockText(seconds) {
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function matchLine(state) {
  const said = [say(state.discipline)];
  said.push(state.length ? say("match_to", { count: state.length }) : say("money"));
  if (state.crawford && state.cube_used && state.length > 1) said.push(say("crawford"));
  if (state.jacoby) said.push(say("jacoby"));
  if (state.beavers) said.push(say("beavers"));
  return said.join(" · ");
}

const scoreText = (state, player) =>
  state.length ? `${number(state.score[player])}/${number(state.length)}` : number(state.score[player]);

function turnKey(state) {
  if (state.phase !== "move") return `turn_${state.phase}`;
  return state.can.done ? "turn_done" : "turn_move";
}
