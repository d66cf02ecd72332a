
"use strict";
// Draws goals as they are wanted: a family's cards when it is opened, a trace's steps when that is opened.
const PAGE = 100;         // cards that a family shows at first, and more at a time
const FEW = 60;           // matches that are all shown at once, each family open
const LINES = 12;         // of a result, before it is cut until asked for
const VERIFIED = { none: "not verified", agreement: "verified by agreement", judged: "judged by a rubric, not verified" };
const goals = JSON.parse(document.getElementById("data").textContent);
const form = document.getElementById("filters");
const found = document.getElementById("found");
const families = new Map();
const texts = new Map();  // what a search looks into, by goal; made at the first search

/** An element with a class and children; a text child is text and nothing else. */
function el(tag, name, ...children) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children.filter((child) => child !== "" && child != null));
  return made;
}

function number(count) {
  return count.toLocaleString("en");
}

function many(count, one) {
  return `${number(count)} ${one}${count === 1 ? "" : "s"}`;
}

// ---- one goal

function card(goal) {
  const made = el("article", "card", el("p", "prompt", goal.prompt), badges(goal), answers(goal), ...goal.traces.map(trace));
  made.id = goal.id;
  made.tabIndex = -1;
  return made;
}

function badges(goal) {
  const link = el("a", "", goal.id);
  link.href = `#${goal.id}`;
  link.title = "link to this goal";
  const plain = [goal.split, goal.workspace, `wording ${goal.wording}`, many(goal.calls, "call")];
  const marks = [goal.hits > 1 ? `${goal.hits} hits` : "", goal.absent ? "absent" : ""].filter(Boolean);
  return el("p", "badges", ...plain.map((text) => el("span", "badge", text)), ...marks.map((text) => el("span", "badge mark", text)), link);
}

function answers(goal) {
  const list = el("dl", "", el("dt", "", "right answer"), gold(goal.gold));
  if (goal.answer) list.append(el("dt", "", "the plan says"), el("dd", "say", goal.answer));
  return list;
}

function gold({ lead, items, rows, note }) {
  const made = el("dd", "", `${lead} `, ...items.map((item) => el("code", "", item)));
  if (rows.length) made.append(el("table", "", el("tbody", "", ...rows.map(row))));
  if (note) made.append(el("span", "note", note));
  return made;
}

function row(cells) {
  return el("tr", "", ...cells.map((cell) => el("td", "", cell)));
}

// ---- one trace

function trace(data) {
  const verdict = data.kept ? el("span", "verdict kept", "kept") : el("span", "verdict dropped", "dropped");
  const made = el("details", "trace", el("summary", "", verdict, about(data)));
  made.addEventListener("toggle", () => unfold(made, data));
  made.unfold = () => { made.open = true; unfold(made, data); };
  return made;
}

function about(data) {
  const by = data.sample ? `${data.teacher}, attempt ${data.sample + 1}` : data.teacher;
  const parts = [data.reason, `by ${by}`];
  if (data.steps) parts.push(many(data.calls, "call"));
  if (data.kept && data.verified !== "check") parts.push(VERIFIED[data.verified]);
  if (data.tokens) parts.push(many(data.tokens, "token"));
  return [...parts.filter(Boolean), ...detours(data)].join(" · ");
}

function detours(data) {
  return Object.entries(data.detours).map(([kind, count]) => `detour: ${kind}${count > 1 ? ` ×${count}` : ""}`);
}

function unfold(made, data) {
  if (!made.open || made.children.length > 1) return;
  if (!data.steps) return void made.append(el("p", "note", "There is no trace of it: nothing was executed to the end."));
  made.append(el("ol", "", ...data.steps.map(step)), final(data));
}

function step(data) {
  if ("call" in data) return el("li", "call", data.call);
  if ("said" in data) return el("li", data.malformed ? "say malformed" : "say", data.said, data.malformed ? el("p", "note", `not readable: ${data.malformed}`) : "");
  return result(data);
}

function result({ id, got, left, refused }) {
  const text = el("pre", "", id ? el("span", "id", `${id}: `) : "", got);
  const made = el("li", refused ? "result refused" : "result", text);
  const lines = got.split("\n").length;
  if (lines > LINES || got.length > 1500) made.append(whole(text, lines));
  const tag = [refused ? "refused" : "", left ? `${many(left, "character")} more in 2-traces.jsonl` : ""].filter(Boolean).join(" · ");
  if (tag) made.append(el("span", "tag", tag));
  return made;
}

function whole(text, lines) {
  text.className = "cut";
  const button = el("button", "", lines > LINES ? `show all ${lines} lines ` : "show all ");
  button.type = "button";
  button.addEventListener("click", () => { text.className = ""; button.remove(); });
  return button;
}

function final(data) {
  const list = el("dl", "final", el("dt", "", data.status), el("dd", "say", data.answer));
  if (data.evidence.length) list.append(el("dt", "", "evidence"), el("dd", "", ...data.evidence.map((place) => el("code", "", place))));
  for (const one of data.judged) list.append(el("dt", "", one.holds ? "judged: yes" : "judged: no"), el("dd", "", `${one.asks} `, el("code", "", one.evidence)));
  return list;
}

// ---- families, drawn when they are opened

function family(name) {
  const count = el("span", "count"), body = el("div", "");
  const details = el("details", "family", el("summary", "", name, count), body);
  const made = { name, details, body, count, matches: [], total: 0, shown: 0 };
  details.addEventListener("toggle", () => draw(made));
  document.getElementById("families").append(details);
  return made;
}

function draw(made, least = PAGE) {
  if (!made.details.open || made.shown >= Math.min(least, made.matches.length)) return;
  made.body.lastElementChild?.matches(".more") && made.body.lastElementChild.remove();
  const next = made.matches.slice(made.shown, Math.max(least, made.shown));
  made.body.append(...next.map(card));
  made.shown += next.length;
  const left = made.matches.length - made.shown;
  if (left > 0) made.body.append(more(made, left));
}

function more(made, left) {
  const button = el("button", "more", `Show ${Math.min(PAGE, left)} more of ${left}`);
  button.type = "button";
  button.addEventListener("click", () => {
    const first = made.shown;
    draw(made, first + PAGE);
    made.body.children[first].focus();
  });
  return button;
}

// ---- filters: in the form, and in the address

function outcome(goal, wanted) {
  if (wanted === "none") return goal.traces.length === 0;
  return goal.traces.some((data) => data.kept === (wanted === "kept"));
}

function textOf(goal) {
  if (!texts.has(goal)) texts.set(goal, strings(goal).join("\n").toLowerCase());
  return texts.get(goal);
}

function strings(goal) {
  const { gold, traces } = goal;
  const told = traces.flatMap((one) => [one.reason, one.kind, one.teacher, one.answer ?? "", ...detours(one), ...(one.steps ?? []).flatMap(Object.values)]);
  return [goal.id, goal.prompt, goal.workspace, goal.wording, goal.answer, gold.lead, gold.note, ...gold.items, ...gold.rows.flat(), ...told];
}

function chosen() {
  return Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
}

function fits(goal, wanted) {
  return (!wanted.family || goal.family === wanted.family)
    && (!wanted.split || goal.split === wanted.split)
    && (!wanted.outcome || outcome(goal, wanted.outcome))
    && (!wanted.q || textOf(goal).includes(wanted.q.toLowerCase()));
}

function show() {
  const wanted = chosen();
  for (const one of families.values()) one.matches = [];
  const matches = goals.filter((goal) => fits(goal, wanted));
  for (const goal of matches) families.get(goal.family).matches.push(goal);
  for (const one of families.values()) redraw(one, Boolean(wanted.family) || matches.length <= FEW);
  const any = Object.keys(wanted).length > 0;
  found.textContent = any ? `${number(matches.length)} of ${many(goals.length, "goal")}` : many(goals.length, "goal");
  form.querySelector("[type=reset]").disabled = !any;
}

function redraw(one, open) {
  one.body.replaceChildren();
  one.shown = 0;
  one.details.hidden = one.matches.length === 0;
  one.count.textContent = one.matches.length < one.total ? `${one.matches.length} of ${one.total}` : `${one.total}`;
  one.details.open = open || one.details.open;
  draw(one);
}

/** The address says what to show: `#0123456789abcdef` one goal, `#family=…&split=…&outcome=…&q=…` those that fit. */
function follow() {
  const address = location.hash.slice(1);
  if (!address || document.getElementById(address)?.matches("section")) return;
  const goal = goals.find((one) => one.id === address);
  if (goal) return reveal(goal);
  const wanted = new URLSearchParams(address);
  for (const field of form.elements) if (field.name) field.value = wanted.get(field.name) ?? "";
  show();
  document.getElementById("goals").scrollIntoView();
}

function reveal(goal) {
  if (!fits(goal, chosen())) { form.reset(); clear(); }
  const one = families.get(goal.family);
  one.details.open = true;
  draw(one, one.matches.indexOf(goal) + 1);
  document.querySelector(".linked")?.classList.remove("linked");
  const made = document.getElementById(goal.id);
  made.classList.add("linked");
  for (const trace of made.querySelectorAll(".trace")) trace.unfold();
  made.scrollIntoView();
  made.focus({ preventScroll: true });
}

function remember() {
  const wanted = new URLSearchParams(chosen()).toString();
  history.replaceState(null, "", wanted ? `#${wanted}` : location.pathname + location.search);
}

function clear() {
  for (const field of form.elements) if (field.name) field.value = "";
  show();
}

function begin() {
  for (const goal of goals) {
    if (!families.has(goal.family)) families.set(goal.family, family(goal.family));
    families.get(goal.family).total += 1;
  }
  for (const [name, values] of [["family", [...families.keys()]], ["split", [...new Set(goals.map((goal) => goal.split))]]]) {
    form.elements[name].append(...values.map((value) => el("option", "", value)));
  }
  form.hidden = false;
  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { show(); remember(); }, 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { clear(); remember(); }));
  addEventListener("hashchange", follow);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input, select")) return;
    event.preventDefault();
    form.elements.q.focus();
  });
  families.values().next().value?.details.setAttribute("open", "");
  show();
  follow();
}

begin();
