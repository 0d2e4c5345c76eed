// Shows a running job: reads its REST interface once a second, and changes only what has changed, so that
// the focus and the selection of a reader stay. All text is set as text, never as markup.

import { Graph, fill, meter, put, rate, share } from "./graph.js";

const EVERY_MS = 1_000;
const PATIENCE_MS = 5_000;
const $ = (id) => document.getElementById(id);
const STATE_CLASS = {
  RUNNING: "good", FINISHED: "good", COMPLETED: "good", FAILED: "wrong", CANCELED: "doubt", SUSPENDED: "doubt",
  RESTARTING: "doubt", INITIALIZING: "doubt", IN_PROGRESS: "doubt", completed: "good",
};
const TYPE = {
  CHECKPOINT: "checkpoint", UNALIGNED_CHECKPOINT: "unaligned checkpoint", SAVEPOINT: "savepoint",
  SYNC_SAVEPOINT: "stop with savepoint",
};
let job = "";
let config = null;
let started = null;
let vertex = "";
let checkpoint = null;
let paused = false;
let since = 0;
const graph = new Graph($("graph"), (id) => { vertex = vertex === id ? "" : id; refresh(); });

// ---------------------------------------------------------------- units

const count = (number) => number.toLocaleString("en");
const time = (ms) => (ms > 0 ? new Date(ms).toLocaleString("sv") : "–");

function bytes(size) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (size >= 1_024 && unit < units.length - 1) { size /= 1_024; unit += 1; }
  return `${unit && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

function duration(ms) {
  if (ms === null || ms < 0) return "–";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  const parts = [[Math.floor(seconds / 3_600), "h"], [Math.floor(seconds / 60) % 60, "min"], [seconds % 60, "s"]];
  return parts.filter(([value], index) => value || index === 2).map(([value, unit]) => `${value} ${unit}`).join(" ");
}

// ---------------------------------------------------------------- lists and tables

function facts(list, entries) {
  const known = new Map([...list.children].map((one) => [one.dataset.key, one]));
  for (const [name, text, kind] of entries) {
    let entry = known.get(name);
    if (!entry) {
      entry = document.createElement("div");
      entry.dataset.key = name;
      entry.append(document.createElement("dt"), document.createElement("dd"));
      put(entry.firstChild, name);
      list.append(entry);
    }
    put(entry.lastChild, text);
    entry.lastChild.className = kind ?? "";
    known.delete(name);
  }
  for (const gone of known.values()) gone.remove();
}

// `rows`: a key and cells each; a cell is a text, or {text, kind, ratio, press, open}.
function table(body, rows) {
  const known = new Map([...body.children].map((row) => [row.dataset.key, row]));
  let next = body.firstChild;
  for (const [key, cells] of rows) {
    let row = known.get(String(key));
    if (!row) {
      row = document.createElement("tr");
      row.dataset.key = key;
      row.append(...cells.map(() => document.createElement("td")));
    }
    if (row !== next) body.insertBefore(row, next);
    else next = next.nextSibling;
    cells.forEach((cell, index) => show(row.children[index], typeof cell === "string" ? { text: cell } : cell));
    known.delete(String(key));
  }
  for (const gone of known.values()) gone.remove();
}

function show(cell, { text, kind = "", ratio, press, open }) {
  if (cell.className !== kind) cell.className = kind;
  if (press && !cell.firstChild) {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", press);
    cell.append(button);
  } else if (!press && !cell.firstChild) {
    cell.append(document.createElement("span"));
    if (ratio !== undefined) cell.append(meter(""));
  }
  put(cell.firstChild, text);
  if (press) cell.firstChild.setAttribute("aria-expanded", String(open));
  if (ratio !== undefined) fill(cell.lastChild, ratio);
}

const number = (text) => ({ text, kind: "count" });
const status = (text) => ({ text, kind: STATE_CLASS[text] ?? "" });

// ---------------------------------------------------------------- sections

function showOverview(details) {
  document.title = `${details.name}: ${details.state}`;
  put($("name"), details.name);
  put($("state"), details.state);
  $("state").className = `state ${STATE_CLASS[details.state] ?? ""}`;
  const mode = config.mode.replaceAll("_", " ");
  const patience = config.aligned_checkpoint_timeout;
  const barriers = !config.unaligned_checkpoints ? "aligned" : patience ? `unaligned after ${duration(patience)}` : "unaligned";
  facts($("overview"), [
    ["Attempt", `${details.attempt}`],
    ["Restarts", `${details.restarts} of ${details["restart-attempts"]} allowed`],
    ["Uptime", duration(details.duration)],
    ["Started", time(details["start-time"])],
    ["Checkpointing", `${mode}, ${barriers}`],
    ["Interval", config.interval === null ? "on request only" : duration(config.interval)],
    ["Timeout", duration(config.timeout)],
    ["Concurrent checkpoints", `at most ${config.max_concurrent}`],
    ["State backend", config.state_backend],
    ["Max parallelism", `${details.maxParallelism}`],
    ["Checkpoints in", config.checkpoint_storage],
    ["Job id", details.jid],
  ]);
}

function showSubtasks(answer) {
  $("vertex").hidden = !answer;
  if (!answer) return;
  put($("title-vertex"), `Subtasks of ${answer.name}`);
  table($("subtasks"), answer.subtasks.map((one) => [one.subtask, [
    `${one.subtask}`,
    status(one.status),
    number(rate(one.metrics["read-records-per-second"])),
    number(rate(one.metrics["write-records-per-second"])),
    number(count(one.metrics["read-records"])),
    number(count(one.metrics["write-records"])),
    number(bytes(one.metrics["buffered-bytes"])),
    number(share(one.busyRatio)),
    number(share(one.backpressuredRatio)),
    number(share(one.idleRatio)),
  ]]));
}

const named = (one) => (one ? `${one.id} in ${one.external_path}` : "none");

function showCheckpoints(answer) {
  const { counts, latest, summary, history } = answer;
  const took = summary.end_to_end_duration;
  facts($("counts"), [
    ["Triggered", count(counts.total)],
    ["In progress", count(counts.in_progress)],
    ["Completed", count(counts.completed)],
    ["Failed", count(counts.failed), counts.failed ? "wrong" : ""],
    ["Restored", count(counts.restored)],
    ["Duration", `${duration(took.avg)} on average, at most ${duration(took.max)}`],
    ["Written", `${bytes(summary.checkpointed_size.avg)} on average`],
  ]);
  facts($("latest"), [
    ["Latest completed checkpoint", named(latest.completed)],
    ["Latest savepoint", named(latest.savepoint)],
    ["Latest failed", latest.failed ? `${latest.failed.id}: ${latest.failed.failure_message}` : "none", latest.failed ? "wrong" : ""],
    ["Restored from", latest.restored ? `${named(latest.restored)}, ${time(latest.restored.restore_timestamp)}` : "nothing"],
  ]);
  const longest = Math.max(1, ...history.map((one) => one.end_to_end_duration));
  table($("history"), history.map((one) => [one.id, [
    { text: `${one.id}`, press: () => { checkpoint = checkpoint === one.id ? null : one.id; refresh(); }, open: checkpoint === one.id },
    status(one.status),
    TYPE[one.checkpoint_type] ?? one.checkpoint_type,
    `${one.num_acknowledged_subtasks} of ${one.num_subtasks}`,
    time(one.trigger_timestamp),
    { ...number(duration(one.end_to_end_duration)), ratio: one.end_to_end_duration / longest },
    number(bytes(one.checkpointed_size)),
    number(bytes(one.state_size)),
    { text: one.failure_message ?? "", kind: "long" },
  ]]));
}

function showCheckpoint(one, vertices) {
  $("checkpoint").hidden = !one;
  if (!one) return;
  put($("title-checkpoint"), `Subtasks in checkpoint ${one.id}`);
  const kept = one.discarded ? "subsumed, and deleted from" : "in";
  const where = one.external_path ? `${kept} ${one.external_path}` : one.failure_message ?? "in progress";
  put($("checkpoint-where"), `${TYPE[one.checkpoint_type] ?? ""} of attempt ${one.attempt}, ${where}`);
  table($("acknowledgements"), vertices.flatMap(({ id, answer }) => answer.subtasks.map((there) => {
    const key = `${id}-${there.index}`;
    const came = there.status === "completed";
    const measured = (value, unit) => number(came ? unit(value) : "–");
    return [key, [
      key,
      status(came ? "completed" : one.status === "IN_PROGRESS" ? "pending" : "none"),
      came ? time(there.ack_timestamp) : "–",
      measured(there.end_to_end_duration, duration),
      measured(there.alignment?.duration, duration),
      measured(there.checkpoint?.sync, duration),
      measured(there.checkpoint?.async, duration),
      measured(there.checkpointed_size, bytes),
      measured(there.state_size, bytes),
      came ? (there.unaligned_checkpoint ? "yes" : "no") : "–",
    ]];
  })));
}

function showAttempts({ attempts }, failure) {
  const failed = attempts.some((one) => one.cause) || failure;
  put($("no-failure"), failure || "No attempt has failed.");
  $("no-failure").hidden = Boolean(failed && !failure);
  $("no-failure").className = failure ? "wrong" : "quiet";
  table($("attempts"), attempts.map((one) => [one.attempt, [
    `${one.attempt}`,
    time(one["start-time"]),
    number(one["running-time"] === null ? "–" : duration(one["running-time"] - one["start-time"])),
    one.restored === null ? "nothing" : `checkpoint ${one.restored}`,
    number(count(one["source-records"])),
    one["failure-time"] === null ? "" : time(one["failure-time"]),
    { text: one.cause ?? "", kind: "long" },
  ]]));
}

// ---------------------------------------------------------------- the loop

async function get(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

async function optional(path) {
  try { return await get(path); } catch (error) {
    if (error.message === "404") return null; // it has left the history
    throw error;
  }
}

async function update() {
  const [known] = (await get("jobs")).jobs;
  if (!known) {
    notify("The job has not started yet.");
    return;
  }
  job = known.id;
  const [details, checkpoints, attempts] = await Promise.all(
    ["", "/checkpoints", "/attempts"].map((path) => get(`jobs/${job}${path}`)));
  if (details["start-time"] !== started) { // another driver continues the job, perhaps with other settings
    config = await get(`jobs/${job}/checkpoints/config`);
    started = details["start-time"];
  }
  showOverview(details);
  graph.show(details.plan, details.vertices, vertex);
  showSubtasks(vertex && await optional(`jobs/${job}/vertices/${encodeURIComponent(vertex)}`));
  showCheckpoints(checkpoints);
  showAttempts(attempts, details.failure);
  const one = checkpoint === null ? null : await optional(`jobs/${job}/checkpoints/details/${checkpoint}`);
  const answers = one && await Promise.all(details.plan.nodes.map(async ({ id }) =>
    ({ id, answer: await optional(`jobs/${job}/checkpoints/details/${checkpoint}/subtasks/${encodeURIComponent(id)}`) })));
  showCheckpoint(one, answers?.filter(({ answer }) => answer) ?? []);
  notify("");
  put($("updated"), time(Date.now()));
  since = 0;
}

function notify(text) {
  put($("notice"), text);
  $("notice").hidden = !text;
}

let running = null;
async function refresh() {
  while (running) await running; // a press during an update gets one of its own
  running = update().catch(() => {
    since = since || Date.now();
    notify(`No answer since ${time(since)}: the job has ended, or its driver does not run. The page shows the last answer, and tries again.`);
  });
  await running;
  running = null;
}

async function loop() {
  if (!paused && !document.hidden) await refresh();
  setTimeout(loop, EVERY_MS);
}

$("pause").addEventListener("click", () => {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", String(paused));
});
loop();
