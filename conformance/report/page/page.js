// Draws the page from the JSON that stands in it; every text is set as text, so no result can become markup.
"use strict";

const ORDER = ["fail", "harness", "mistrusted", "open", "unsupported", "waived", "pass"];
const PAGE = 500;

const results = JSON.parse(document.getElementById("results").textContent);
const at = (id) => document.getElementById(id);
const standing = (one) => results.standings[one.verdict.split("(")[0]];

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function row(texts, tag = "td") {
  const made = document.createElement("tr");
  texts.forEach((text, k) => made.append(element(tag, text, k ? "number" : "")));
  return made;
}

// For a POSIX shell: inside single quotes nothing means anything but the quote itself.
const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

function replay(run, one) {
  const name = one.kind ? `${one.kind}/${one.name}` : one.name;
  const suite = run.suite === "onnx" || run.suite.startsWith("onnx@") ? run.suite : quoted(run.suite);
  return `touchstone conform --target ${run.target} --suite ${suite} --filter ${quoted(name)}`;
}

let run, ordered, limit;

function draw_summary() {
  const summary = run.summary;
  at("what").textContent = `${run.target} on ${run.suite}`;
  at("totals").replaceChildren();
  const rate = summary.rate === null ? "–" : (100 * summary.rate).toFixed(2) + " %";
  const figures = [["cases", summary.cases], ["rate", rate], ...ORDER.map((name) => [name, summary[name] || 0])];
  for (const [name, figure] of figures) {
    const pair = element("div");
    pair.append(element("dt", name), element("dd", figure, name));
    at("totals").append(pair);
  }
  const kinds = new Map();
  for (const one of run.cases) {
    const count = kinds.get(one.kind) || { cases: 0, compat: 0 };
    count.cases += 1;
    count.compat += one.compat === "pass";
    count[standing(one)] = (count[standing(one)] || 0) + 1;
    kinds.set(one.kind, count);
  }
  at("kinds").tHead.replaceChildren(row(["kind", "cases", ...ORDER, "pass by the suite's rule"], "th"));
  at("kinds").tBodies[0].replaceChildren(...[...kinds].sort().map(([kind, count]) =>
    row([kind || "–", count.cases, ...ORDER.map((name) => count[name] || 0), count.compat])));
}

function open_row(made, one) {
  if (made.classList.toggle("wide")) {
    made.lastChild.append(element("code", replay(run, one)));
  } else {
    made.lastChild.querySelector("code").remove();
  }
}

function case_row(one) {
  const made = document.createElement("tr");
  made.tabIndex = 0;
  const used = one.utilisation === null ? "" : one.utilisation.toPrecision(3);
  made.append(element("td", one.kind ? `${one.kind}/${one.name}` : one.name), element("td", one.verdict, standing(one)),
    element("td", one.compat, one.compat === "pass" ? "pass" : one.compat === "unsupported" ? "unsupported" : "fail"),
    element("td", used, "number"), element("td", one.detail));
  for (const id of one.explained) {
    const note = element("span", id, "note");
    note.title = results.explanations[id];
    made.lastChild.prepend(note);
  }
  made.addEventListener("click", () => { if (!String(getSelection())) open_row(made, one); });
  made.addEventListener("keydown", (event) => { if (event.key === "Enter") open_row(made, one); });
  if (standing(one) === "fail") open_row(made, one);
  return made;
}

function draw_cases() {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = at("standing").value;
  const found = ordered.filter((one) => (!wanted || standing(one) === wanted) &&
    words.every((word) => `${one.kind}/${one.name} ${one.verdict} ${one.compat} ${one.explained.join(" ")} ${one.detail}`.toLowerCase().includes(word)));
  at("cases").tBodies[0].replaceChildren(...found.slice(0, limit).map(case_row));
  at("shown").textContent = `${found.length} of ${ordered.length}`;
  at("more").hidden = found.length <= limit;
}

function choose(index) {
  run = results.runs[index];
  limit = PAGE;
  const rank = (one) => ORDER.indexOf(standing(one));
  ordered = run.cases.map((one, k) => [one, k]).sort((a, b) => rank(a[0]) - rank(b[0]) || a[1] - b[1]).map(([one]) => one);
  draw_summary();
  draw_cases();
}

at("standing").append(new Option("all", ""), ...ORDER.map((name) => new Option(name, name)));
at("run").append(...results.runs.map((one, k) => new Option(`${one.target} on ${one.suite}`, k)));
at("choose").hidden = results.runs.length < 2;
at("run").addEventListener("change", () => choose(Number(at("run").value)));
for (const control of ["filter", "standing"]) {
  at(control).addEventListener("input", () => { limit = PAGE; draw_cases(); });
}
at("more").addEventListener("click", () => { limit += PAGE; draw_cases(); });
addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== at("filter")) { event.preventDefault(); at("filter").focus(); }
});
choose(0);
