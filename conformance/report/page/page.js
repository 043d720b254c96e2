// Draws the page from the embedded JSON. All strings are set as text, so no result can become
// markup. The filter text is the only state: clicks edit it, and the URL stores it.
"use strict";

const ORDER = ["fail", "harness", "mistrusted", "open", "unsupported", "waived", "pass"];
const PAGE = 200;

const results = JSON.parse(document.getElementById("results").textContent);
const runs = results.runs;
const at = (id) => document.getElementById(id);
const verdict = (one) => one.verdict.split("(")[0];
const standing = (one) => results.standings[verdict(one)];
const label = (run) => run.target.replaceAll(" ", "_");

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function row(cells, kind) {
  const made = element("tr", undefined, kind);
  made.append(...cells);
  return made;
}

// ---- cases: one entry per case, with a result of each run ----

function gather() {
  const all = new Map();
  runs.forEach((run, r) => run.cases.forEach((one) => {
    const key = one.kind ? `${one.kind}/${one.name}` : one.name;
    if (!all.has(key)) all.set(key, { key, kind: one.kind, op: "", since: 0, by: runs.map(() => null) });
    const found = all.get(key);
    found.by[r] = one;
    if (one.op) Object.assign(found, { op: one.op, since: one.since });
  }));
  for (const one of all.values()) {
    const tokens = [`op:${one.op || "-"}`, `kind:${one.kind || "-"}`];
    one.by.forEach((result, r) => {
      if (!result) return;
      const name = label(runs[r]);
      tokens.push(`${name}:${verdict(result)}`, `${name}:${standing(result)}`, `${name}=${result.compat}`);
      tokens.push(...(result.kernels || []).map((kernel) => `${name}@${kernel}`));
    });
    one.tokens = new Set(tokens.map((token) => token.toLowerCase()));
    one.notes = [...new Set(one.by.flatMap((result) => result?.explained || []))];
    const details = [...one.notes, ...one.by.map((result) => (result ? `${result.verdict} ${result.compat} ${result.detail}` : ""))];
    one.text = `${one.key} ${one.op} ${details.join(" ")}`.toLowerCase();
    const given = one.by.filter(Boolean);
    one.rank = Math.min(...given.map((result) => ORDER.indexOf(standing(result))));
    one.parted = new Set(one.by.map((result) => (result ? standing(result) : ""))).size > 1;
  }
  return [...all.values()].map((one, k) => [one, k])
    .sort((a, b) => a[0].rank - b[0].rank || a[1] - b[1]).map(([one]) => one);
}

const cases = gather();
let limit = PAGE;

function matching() {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  return cases.filter((one) => (!at("parted").checked || one.parted) &&
    words.every((word) => one.tokens.has(word) || one.text.includes(word)));
}

function ask(words) {
  at("filter").value = words;
  limit = PAGE;
  draw();
}

function chip(text, kind, words, title) {
  const made = element("button", text, `chip ${kind}`);
  made.title = title || words;
  made.addEventListener("click", (event) => { event.stopPropagation(); ask(words); });
  return made;
}

// ---- board: a row per target ----

function draw_board() {
  const heads = ["target", "cases", "rate", ...ORDER, "", "by the suite's rule", "float32 on fast kernels", "cases by kernel class"];
  at("board").tHead.replaceChildren(row(heads.map((text, k) => element("th", text, k && k < 10 ? "number" : ""))));
  at("board").tBodies[0].replaceChildren(...runs.map((run) => {
    const { summary } = run, name = label(run);
    const head = element("th", run.target);
    if (run.version) head.append(" ", element("small", run.version));
    const cells = [head, element("td", summary.cases, "number"),
      element("td", summary.rate === null ? "–" : `${(100 * summary.rate).toFixed(2)} %`, "number")];
    for (const kind of ORDER) {
      const cell = element("td", undefined, "number");
      cell.append(chip(summary[kind] || 0, kind, `${name}:${kind}`));
      cells.push(cell);
    }
    const strip = element("td", undefined, "strip"), bar = element("div");
    for (const kind of [...ORDER].reverse()) {
      const part = element("span", undefined, kind);
      part.style.flexGrow = summary[kind] || 0;
      bar.append(part);
    }
    strip.append(bar);
    const compat = element("td");
    for (const [kind, count] of Object.entries(summary.compat)) {
      compat.append(chip(`${count} ${kind}`, kind === "pass" || kind === "unsupported" ? kind : "fail", `${name}=${kind}`));
    }
    const share = summary.float32;  // for a target that reports the kernels that it ran on
    const fast = element("td", share ? `${share.fast} of ${share.cases}, ${(100 * share.fast / share.cases).toFixed(1)} %` : "–");
    const classes = element("td");
    for (const [kernel, count] of Object.entries(summary.kernels || {})) {
      classes.append(chip(`${count} ${kernel}`, "pass", `${name}@${kernel}`, `cases in which ${kernel} ran`));
    }
    return row([...cells, strip, compat, fast, classes]);
  }));
  const suites = [...new Set(runs.map((run) => run.suite))];
  at("what").textContent = `${cases.length} cases of ${suites.join(", ")}`;
}

// ---- matrix: verdict counts by operator and target ----

function draw_matrix(found) {
  const rows = new Map();
  for (const one of found) {
    const name = one.op || "-";
    if (!rows.has(name)) rows.set(name, { since: new Set(), cases: 0, counts: runs.map(() => new Map()) });
    const entry = rows.get(name);
    entry.cases += 1;
    if (one.since) entry.since.add(one.since);
    one.by.forEach((result, r) => {
      if (result) entry.counts[r].set(verdict(result), (entry.counts[r].get(verdict(result)) || 0) + 1);
    });
  }
  const rank = (name) => ORDER.indexOf(results.standings[name]);
  at("matrix").tHead.replaceChildren(row(["operator", "versions", "cases", ...runs.map((run) => run.target)]
    .map((text, k) => element("th", text, k === 2 ? "number" : ""))));
  at("matrix").tBodies[0].replaceChildren(...[...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, entry]) => {
    const head = element("th");
    head.append(chip(name === "-" ? "several nodes" : name, "", `op:${name}`));
    const since = [...entry.since].sort((a, b) => a - b).join(", ");
    const cells = [head, element("td", since), element("td", entry.cases, "number")];
    entry.counts.forEach((counts, r) => {
      const cell = element("td");
      for (const [one, count] of [...counts].sort((a, b) => rank(b[0]) - rank(a[0]))) {
        cell.append(chip(`${count} ${one}`, results.standings[one], `op:${name} ${label(runs[r])}:${one}`));
      }
      cells.push(cell);
    });
    return row(cells);
  }));
}

// ---- coverage of the spec's clauses, if measured: a file expands to its uncovered clauses ----

const percent = ([some, all]) => (all ? `${(100 * some / all).toFixed(1)} %` : "–");

function missed_clauses(file) {
  const cell = element("td");
  cell.colSpan = 4;
  for (const one of file.missed) {
    const line = element("p", one.reason);
    cell.append(element("code", `${one.clause} ${one.text}`), line);
  }
  return row([cell], "about");
}

function draw_coverage({ statements, sides, files, cases }) {
  const [summary, what] = at("coverage").children, table = at("coverage").querySelector("table");
  at("coverage").hidden = false;
  summary.textContent = `Coverage of the spec: ${percent(statements)} of statements, ${percent(sides)} of sides of conditions`;
  what.textContent = `What ${cases} cases reach of the reference that is made from it. A file opens to what none reaches, and why.`;
  table.tHead.replaceChildren(row(["file", "statements", "sides", "not reached"]
    .map((text, k) => element("th", text, k ? "number" : ""))));
  table.tBodies[0].replaceChildren(...files.map((file) => {
    const made = row([element("th", file.path),
      ...[file.statements, file.sides].map((of) => element("td", `${of.join(" of ")}, ${percent(of)}`, "number")),
      element("td", file.missed.length || "", "number")], file.missed.length ? "file" : "");
    if (file.missed.length) opens(made, () => missed_clauses(file));
    return made;
  }));
}

// ---- cases, each expandable ----

// Quotes for a POSIX shell: inside single quotes only the quote itself is special.
const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

function replay(run, one) {
  const plain = (text) => (/^[\w@.:=/-]+$/.test(text) ? text : quoted(text));
  return `touchstone conform --target ${plain(run.target)} --suite ${plain(run.suite)} --filter ${quoted(one.key)}`;
}

// Returns a table of every place that any target shows, with the suite's expectation; differing
// cells are marked.
function values_table(one) {
  const places = new Map();
  one.by.forEach((result, r) => (result ? result.values : []).forEach(([place, expected, actual]) => {
    if (!places.has(place)) places.set(place, { expected, actual: runs.map(() => null) });
    places.get(place).actual[r] = actual;
  }));
  if (!places.size) return null;
  const made = element("table");
  const head = element("thead");
  head.append(row(["output", "expected by the suite", ...runs.map((run) => run.target)].map((text) => element("th", text))));
  const body = element("tbody");
  for (const [place, { expected, actual }] of places) {
    body.append(row([element("th", place), element("td", expected),
      ...actual.map((text) => element("td", text ?? "", text !== null && text !== expected ? "other" : ""))]));
  }
  made.append(head, body);
  return made;
}

function about(one) {
  const cell = element("td");
  cell.colSpan = runs.length + 1;
  for (const id of one.notes) {
    const line = element("p");
    line.append(element("span", id, "note"), results.explanations[id]);
    cell.append(line);
  }
  const table = values_table(one);
  if (table) cell.append(table);
  one.by.forEach((result, r) => {
    if (!result) return;
    const used = result.utilisation === null ? "" : `, ${result.utilisation.toPrecision(3)} of its bound`;
    const line = element("p", `${runs[r].target}: `);
    line.append(element("span", result.verdict, standing(result)),
      `${used}; by the suite's rule ${result.compat}${result.detail ? ". " + result.detail : ""}`);
    cell.append(line, element("code", replay(runs[r], one)));
  });
  return row([cell], "about");
}

function toggle(made, about) {
  if (made.nextSibling && made.nextSibling.className === "about") {
    made.nextSibling.remove();
  } else {
    made.after(about());
  }
  made.setAttribute("aria-expanded", String(made.nextSibling?.className === "about"));
}

function opens(made, about) {
  made.tabIndex = 0;
  made.addEventListener("click", () => { if (!String(getSelection())) toggle(made, about); });
}

function case_row(one) {
  const name = element("td", one.key);
  if (one.op) name.append(" ", element("small", one.since ? `${one.op} ${one.since}` : one.op));
  for (const id of one.notes) name.append(" ", chip(id, "note", id, results.explanations[id]));
  const made = row([name, ...one.by.map((result) => {
    const cell = element("td", result ? result.verdict : "–", result ? standing(result) : "absent");
    if (result && (result.compat === "pass") !== (standing(result) === "pass") && result.compat !== result.verdict) {
      cell.append(" ", element("small", `suite: ${result.compat}`));
    }
    return cell;
  })], "case");
  opens(made, () => about(one));
  return made;
}

function draw() {
  const found = matching();
  draw_matrix(found);
  at("cases").tHead.replaceChildren(row(["case", ...runs.map((run) => run.target)].map((text) => element("th", text))));
  at("cases").tBodies[0].replaceChildren(...found.slice(0, limit).map(case_row));
  at("shown").textContent = `${found.length} of ${cases.length} cases`;
  at("more").hidden = found.length <= limit;
  history.replaceState(null, "", `#${encodeURIComponent(at("filter").value)}`);
}

function move(from, step) {
  let to = from[step];
  while (to && to.className !== from.className) to = to[step];
  if (to) to.focus();
}

at("filter").addEventListener("input", () => { limit = PAGE; draw(); });
at("parted").addEventListener("input", () => { limit = PAGE; draw(); });
at("more").addEventListener("click", () => { limit += PAGE; draw(); });
addEventListener("keydown", (event) => {
  const focus = document.activeElement;
  if (event.key === "/" && focus !== at("filter")) {
    event.preventDefault();
    at("filter").focus();
  } else if (focus.tabIndex === 0 && focus.tagName === "TR" && event.key === "Enter") {
    focus.click();
  } else if (focus.tagName === "TR" && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    move(focus, event.key === "ArrowDown" ? "nextSibling" : "previousSibling");
  }
});
at("filter").value = decodeURIComponent(location.hash.slice(1));
draw_board();
if (results.coverage) draw_coverage(results.coverage);
draw();
