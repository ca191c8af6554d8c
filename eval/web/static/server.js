/** Talking to the server, which alone knows the rules: one function a request, one error class for whatever fails. */

const PATIENCE = 60_000; // milliseconds; a big model on a slow machine thinks for a few seconds

/** A request that failed: `status` is 0 if no answer came, `answer` is what the server sent. */
export class ServerError extends Error {
  constructor(status, answer) {
    super(answer?.error ?? "");
    this.status = status;
    this.answer = answer;
  }
}

export const choices = () => ask("/api/choices");
export const state = () => ask("/api/state");
export const hint = () => ask("/api/hint");
export const begin = (wishes) => ask("/api/new", JSON.stringify(wishes));
export const act = (version, action, more = {}) => ask("/api/act", JSON.stringify({ version, action, ...more }));

/** Goes on with a saved game: `text` is that of its file. */
export const load = (text, tutor) => ask(`/api/load?tutor=${tutor ? 1 : 0}`, text);

/** A file of the game, "save" or "mat": `{name, blob}`. */
export async function file(kind) {
  const response = await reach(`/api/${kind}`);
  if (!response.ok) throw new ServerError(response.status, await answerOf(response));
  const said = /filename="?([^";]+)/.exec(response.headers.get("Content-Disposition") ?? "");
  const name = said?.[1] ?? (kind === "mat" ? "nardy.mat" : "nardy.json");
  return { name, blob: await response.blob() };
}

async function ask(path, body) {
  const response = await reach(path, body);
  const answer = await answerOf(response);
  if (!response.ok || answer === null) throw new ServerError(response.status, answer);
  return answer;
}

async function reach(path, body) {
  const options = { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) };
  if (body !== undefined) {
    Object.assign(options, { method: "POST", body, headers: { "Content-Type": "application/json" } });
  }
  try {
    return await fetch(path, options);
  } catch {
    throw new ServerError(0, null);
  }
}

async function answerOf(response) {
  try {
    return await response.json();
  } catch {
    return null; // a proxy's page, or an answer cut short
  }
}
