// A page shows what is in the files. lib/files.js and the JSON of the same report give the expected
// values; positions are computed from the axes of the drawings.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { launch, openFile } from "../lib/browser.js";
import { all, htmlOf, jsonOf, runOf } from "../lib/fixtures.js";
import { centre, drawings, heights, place, span, valueOf } from "../lib/drawings.js";
import { field, moments, percentiles, range, readRun, steps } from "../lib/files.js";
import { root } from "../lib/places.js";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const widths = ["wide", "narrow"];
const atX = 0.5; // px
const atY = 0.05; // px: places are written with two decimals

// The charts that a page of one run must have; all its charts are compared with the files.
const drawn = {
  "run": ["books", "timeline", "lag", "age", "gate", "partitions", "resources", "process", "percentiles"],
  "run-gate": ["books", "timeline", "lag", "age", "gate", "resources", "percentiles"],
  "run-credit": ["books", "timeline", "lag", "resources", "percentiles"],
  "run-failover": ["books", "timeline", "lag", "outage", "percentiles"],
  "run-queue": ["books", "timeline", "lag", "age"],
  "run-drops": ["books", "timeline"],
  "run-closed-loop": ["books", "timeline"],
  "run-quick": ["books", "timeline", "lag", "age", "partitions", "resources", "percentiles"],
  "run-old": ["books", "timeline", "lag", "percentiles"],
  "run-killed": ["timeline", "lag", "age"],
  "run-hostile": ["timeline"],
  "run-imported-ssp": [],
};

describe("each page", () => {
  for (const name of Object.keys(all)) {
    test(name, async () => {
      const { page, close } = await openFile(browser, htmlOf(name));
      const shown = await page.locator("main data").evaluateAll((elements) => elements.map((e) => ({
        value: Number(e.getAttribute("value")), text: e.textContent, ...e.dataset,
      })));
      const document = jsonOf(name);
      for (const datum of shown) {
        assert.equal(datum.value, wanted(document, datum),
          `${datum.figure} ${datum.stat ?? ""} of ${datum.of ?? "the run"}`);
        const said = valueOf(datum.text.replace(/^[≥>] ?/, "").replace(/[*†]$/, ""));
        // Rounding never yields 100 %.
        const near = datum.text.startsWith("> 99.99 %") ? datum.value > 0.9999 && datum.value < 1 :
          !said || Math.abs(said.value - datum.value) <= said.slack * 1.0001;
        assert.ok(near, `"${datum.text}" is not ${datum.value}`);
      }
      if (document.kind === "runs" && document.runs.length === 1) {
        const names = new Set(shown.map((d) => d.figure));
        for (const [figure, value] of Object.entries(document.runs[0].figures)) {
          if (value !== null) assert.ok(names.has(figure), `the page has ${figure}`);
        }
      }
      if (name in drawn) await checkDrawings(page, name);
      await close();
    });
  }
});

// Tables of several runs name a figure in words. Each cell begins with the median.
const rows = {
  "offered": "offered_per_s", "acked": "acked_per_s", "delivered": "delivered_per_s",
  "shed": "shed", "scheduled": "scheduled",
  "lost": "lost", "consumer lag peak, records": "lag_peak", "time lag peak": "time_lag_peak",
  "e2e response p50, admitted": "e2e_response_time_p50", "e2e response p99, admitted": "e2e_response_time_p99",
  "send response p99, admitted": "send_response_time_p99",
};

for (const name of ["several", "study", "study-sizes"]) {
  test(`medians beside each other of ${name}`, async () => {
    const { page, close } = await openFile(browser, htmlOf(name));
    const document = jsonOf(name);
    const tables = await page.locator("main table").evaluateAll((all) => all.map((table) => ({
      heads: [...table.tHead.rows[0].cells].map((c) => c.textContent),
      rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((c) => c.textContent)),
    })));
    const table = tables.find((t) => t.rows.some(([label]) => label === "offered"));
    if (name === "study-sizes" && !table) return close(); // it has them as <data> elements
    let checked = 0;
    for (const [label, ...cells] of table.rows.filter(([l]) => l in rows)) {
      cells.forEach((text, i) => {
        const said = valueOf(text.replace(/ \(.*\)$/, ""));
        if (!said) return;
        const exact = medianOf(document, table.heads[i + 1], rows[label]);
        assert.ok(Math.abs(said.value - exact) <= said.slack * 1.0001 + 0.5,
          `${label} of ${table.heads[i + 1]}: "${text}" is not ${exact}`);
        checked++;
      });
    }
    assert.ok(checked >= 8, `${checked} cells`);
    await close();
  });
}

function medianOf(document, head, figure) {
  const cell = document.cells?.find((c) => c.name.endsWith(`-${head}`) || c.name === head);
  if (cell?.figures[figure]) return cell.figures[figure].median;
  const runs = document.runs ?? runsOf({ cells: [cell] }).map((r) => ({ figures: { [figure]: ofRun(r.run, figure) } }));
  return median(runs.map((r) => r.figures[figure]));
}

const ofRun = (run, figure) => ({
  offered_per_s: run.load.offered_per_s, acked_per_s: run.load.acked_per_s,
  delivered_per_s: run.delivery.delivered_per_s,
  shed: run.load.shed, scheduled: run.load.scheduled, lost: run.delivery.lost, lag_peak: run.lag.peak_records,
  time_lag_peak: run.lag.time_lag_peak_ns, e2e_response_time_p50: run.time.e2e_response_time?.p50_ns,
  e2e_response_time_p99: run.time.e2e_response_time?.p99_ns,
  send_response_time_p99: run.time.send_response_time?.p99_ns,
})[figure];

function median(values) {
  const all = sorted(values);
  const half = all.length >> 1;
  return all.length % 2 ? all[half] : (all[half - 1] + all[half]) / 2;
}

// wanted is a value of the JSON document.
function wanted(document, { figure, stat, of, bound }) {
  switch (document.kind) {
    case "runs": {
      const run = document.runs.find((r) => of === undefined || r.id === of);
      return bound ? run.at_least[figure] : run.figures[figure];
    }
    case "campaign": return field(document.cells.find((c) => c.name === of).figures[figure], stat);
    case "comparison": {
      const against = document.against_the_first.find((a) => a.letter === of);
      return field(against.figures.find((f) => f.figure === figure), stat);
    }
    case "history": {
      const run = document.runs.find((r) => r.id === of);
      return run.values[document.series.findIndex((s) => s.figure === figure)];
    }
    default: throw new Error(`unknown document ${document.kind}`);
  }
}

async function checkDrawings(page, name) {
  const recorded = readRun(runOf(name));
  for (const width of widths) {
    const found = await drawings(page, width);
    const names = found.map((d) => d.chart);
    assert.deepEqual(drawn[name].filter((chart) => !names.includes(chart)), [], `not drawn; drawn are ${names}`);
    for (const drawing of found) checkRun(recorded, drawing, `${drawing.chart}, ${width}`);
  }
}

// checkRun compares a drawing of one run with the run's files.
function checkRun(recorded, drawing, what) {
  checkTicks(drawing, what);
  checkMarks(recorded, drawing, what);
  drawing.panels.forEach((panel, n) => {
    const where = `${what}, panel ${n}`;
    const shapes = panel.shapes.filter((s) => s.figure && s.series !== undefined);
    if (drawing.chart === "books") return checkBooks(recorded, panel, shapes, where);
    const bars = shapes.some((s) => s.form === "rect");
    if (drawing.chart === "outage" && bars) return checkGaps(recorded, panel, shapes, where);
    if (drawing.chart === "gate" && bars) return checkGate(recorded, panel, shapes, where);
    if (drawing.chart === "percentiles") return checkCurve(recorded, panel, shapes, where);
    return checkSteps(recorded, panel, shapes, where);
  });
}

const isNear = (a, b, slack, what) => assert.ok(Math.abs(a - b) <= slack, `${what}: ${a} is not ${b}`);

// checkSteps checks lines over time: each known value of the file is drawn from its start to its
// end, and nothing else is drawn.
function checkSteps(recorded, panel, shapes, what) {
  const series = new Map(); // shapes by series, whose dots and lines belong together
  for (const s of shapes) {
    const key = `${s.figure}\n${s.series}\n${s.role === "band" ? "band" : "line"}`;
    if (s.figure !== "broker_cpu_cores" || s.role !== "line") series.set(key, [...(series.get(key) ?? []), s]);
    else series.set(`${key}${series.size}`, [s]);
  }
  assert.ok(series.size > 0, `${what} has a series`);
  const lined = shapes.filter((s) => s.role !== "band").map((s) => s.series);
  let brokers = 0;
  for (const parts of series.values()) {
    const { figure, series: name, role } = parts[0];
    const lines = parts.flatMap((s) => s.lines);
    const where = `${what}, ${name} (${figure})`;
    if (role === "band") {
      for (const step of range(recorded, figure, lined)) checkBand(panel, step, lines, where);
      continue;
    }
    const expected = steps(recorded, figure, name, figure === "broker_cpu_cores" ? brokers++ : 0);
    assert.ok(expected.some((s) => s.value !== null), `${where}: the files have it`);
    checkLine(panel, expected, lines, where);
  }
}

function checkLine(panel, expected, lines, what) {
  const [left, right] = span(panel.x);
  const [top, bottom] = span(panel.y);
  const placed = expected.map((s) => ({
    ...s, x0: place(panel.x, s.from), x1: place(panel.x, s.to), y: s.value === null ? null : place(panel.y, s.value),
  }));
  for (const s of placed) {
    if (s.x1 < left + 1 || s.x0 > right - 1) continue;
    const wide = s.x1 - s.x0;
    if (s.y === null) {
      if (wide < 2) continue;
      const inside = heights(lines, s.x0 + 0.75, s.x1 - 0.75);
      assert.equal(inside, null, `${what}: nothing is drawn from ${s.from} to ${s.to}`);
      continue;
    }
    assert.ok(s.y >= top - atY && s.y <= bottom + atY, `${what}: ${s.value} is on the axis`);
    const slack = wide < 2 ? 1 : 0; // for a value that shares its column of pixels
    const seen = heights(lines, s.x0 + (slack ? -1 : 0.75), s.x1 + (slack ? 1 : -0.75));
    assert.ok(seen, `${what}: something is drawn from ${s.from} to ${s.to}`);
    if (slack) {
      assert.ok(s.y >= seen.low - atY && s.y <= seen.high + atY,
        `${what}: ${s.value} is drawn from ${s.from} to ${s.to}`);
    } else {
      isNear(seen.low, s.y, atY, `${what}: ${s.value} from ${s.from} to ${s.to}, in px`);
      isNear(seen.high, s.y, atY, `${what}: ${s.value} from ${s.from} to ${s.to}, in px`);
    }
  }
  // Each corner is the start or the end of a value, at the height of that value.
  for (const [x, y] of lines.flat()) {
    const near = placed.filter((s) => s.y !== null && x >= s.x0 - 1 && x <= s.x1 + 1 && Math.abs(s.y - y) <= atY);
    const exact = near.some((s) => Math.min(Math.abs(x - s.x0), Math.abs(x - s.x1)) <= atX);
    assert.ok(exact, `${what}: the corner at ${x}, ${y} is that of a value`);
  }
}

function checkBand(panel, step, lines, what) {
  const x0 = place(panel.x, step.from);
  const x1 = place(panel.x, step.to);
  if (step.none || x1 - x0 < 2) return;
  const seen = heights(lines, x0 + 0.75, x1 - 0.75);
  assert.ok(seen, `${what}: something is drawn from ${step.from} to ${step.to}`);
  isNear(seen.high, place(panel.y, step.low), atY, `${what}: the lowest from ${step.from}, in px`);
  isNear(seen.low, place(panel.y, step.high), atY, `${what}: the highest from ${step.from}, in px`);
}

// checkTicks checks that the value of a tick's label is at the tick's place.
function checkTicks(drawing, what) {
  const { x } = drawing.panels[0];
  let read = 0;
  drawing.words.forEach((word, i) => {
    const label = drawing.words[i + 1];
    if (word.role !== "tick" || label?.form !== "text") return;
    const percentile = label.text.match(/^p([\d.]+)$/);
    const value = percentile ? { value: Number(percentile[1]) / 100, slack: 0 } : valueOf(label.text);
    if (!value || x.scale === "linear" && x.max - x.min < value.slack) return;
    isNear(word.lines[0][0][0], place(x, value.value), atX, `${what}: the tick ${label.text}`);
    read++;
  });
  if (drawing.chart !== "books") assert.ok(read >= 2, `${what}: ticks of the x axis can be read`);
  for (const { y } of drawing.panels) {
    const [top, bottom] = span(y);
    const labels = drawing.words.filter((w) => w.form === "text" && w.role === "label" && w.anchor === "end" &&
      w.y - 4 >= top - 1 && w.y - 4 <= bottom + 1);
    for (const label of labels) {
      const value = valueOf(label.text);
      assert.ok(value, `${what}: "${label.text}" is a number with its unit`);
      const near = [value.value - value.slack, value.value, value.value + value.slack]
        .filter((v) => y.scale !== "log" || v > 0 || v === 0 && y.zero !== null).map((v) => place(y, v));
      const inside = label.y - 4 >= Math.min(...near) - atX && label.y - 4 <= Math.max(...near) + atX;
      assert.ok(inside, `${what}: the label ${label.text} is at ${label.y - 4}, not at ${near}`);
    }
  }
}

// checkMarks checks that the marks are the file's moments, each at its time, with the window's ends.
function checkMarks(recorded, drawing, what) {
  const known = moments(recorded);
  for (const mark of drawing.marks.filter((m) => m.at !== null)) {
    assert.ok(known.has(mark.at), `${what}: something happened at ${mark.at} (${mark.words})`);
    for (const line of mark.lines) {
      for (const [x] of line) isNear(x, place(drawing.panels[0].x, mark.at), atX, `${what}: "${mark.words}"`);
    }
  }
  if (["books", "percentiles"].includes(drawing.chart)) return;
  const measure = recorded.run.run?.phases?.find((p) => p.name === "measure");
  if (!measure) return;
  for (const end of [measure.start_ns, measure.end_ns]) {
    assert.ok(drawing.marks.some((m) => m.at === end), `${what}: the end of the measured window, ${end}, is marked`);
  }
}

// checkBooks compares bars with the counts of run.json: their values, and the ratio of their widths.
function checkBooks(recorded, panel, bars, what) {
  const fields = bars[0].figure.split(" ");
  assert.equal(bars.length, fields.filter((f) => field(recorded.run, f) !== null).length,
    `${what}: a bar for each count`);
  const most = bars.reduce((a, b) => (b.value > a.value ? b : a));
  for (const bar of bars) {
    const value = field(recorded.run, fields[bar.at]);
    assert.equal(bar.value, value, `${what}: ${fields[bar.at]}`);
    const where = `${what}: ${fields[bar.at]} of the longest bar`;
    if (bar.width > 1) isNear(bar.width / most.width / (value / most.value), 1, 0.01, where);
    else assert.ok(place(panel.x, value) - place(panel.x, 0) <= 1.01, where);
  }
  for (const wantedField of ["load.scheduled", "load.acked"]) assert.ok(fields.includes(wantedField));
}

function checkBarEnds(panel, bar, what) {
  isNear((bar.x + bar.x + bar.width) / 2, (place(panel.x, bar.from) + place(panel.x, bar.to)) / 2, atX,
    `${what}: the middle of the bar`);
  if (place(panel.x, bar.to) - place(panel.x, bar.from) < 1) return; // drawn wider, to be visible
  isNear(bar.x, place(panel.x, bar.from), atX, `${what}: ${bar.from}`);
  isNear(bar.x + bar.width, place(panel.x, bar.to), atX, `${what}: ${bar.to}`);
  const row = panel.y.from + ((bar.at - panel.y.min) / (panel.y.max - panel.y.min)) * (panel.y.to - panel.y.from);
  isNear(bar.y + bar.height / 2, row, 5, `${what}: its row`);
}

function checkGate(recorded, panel, bars, what) {
  for (const interval of recorded.intervals.filter((i) => i.gate_open !== null && i.gate_open !== undefined)) {
    const row = interval.gate_open ? 0 : 1;
    assert.ok(bars.some((b) => b.at === row && b.from <= interval.start_ns && b.to >= interval.end_ns),
      `${what}: the interval from ${interval.start_ns} is in row ${row}`);
    assert.ok(!bars.some((b) => b.at === 1 - row && b.from < interval.end_ns && b.to > interval.start_ns),
      `${what}: the interval from ${interval.start_ns} is not in the other row`);
  }
  for (const bar of bars) checkBarEnds(panel, bar, what);
}

// checkGaps checks bars of faults and of gaps. Gaps that cannot be distinguished are one bar.
function checkGaps(recorded, panel, bars, what) {
  for (const bar of bars) checkBarEnds(panel, bar, what);
  const { figure } = bars[0];
  if (figure === "faults") {
    assert.deepEqual(bars.map((b) => b.from), recorded.run.faults.map((f) => f.start_ns), what);
    recorded.run.faults.forEach((f, i) => { if (f.end_ns) assert.equal(bars[i].to, f.end_ns, what); });
    return;
  }
  const gaps = field(recorded.run, figure);
  const key = (g) => `${g.group ?? ""} ${String(g.partition).padStart(6, "0")}`;
  const rows = [...new Set(gaps.map(key))].sort();
  for (const gap of gaps) {
    const row = rows.indexOf(key(gap));
    assert.ok(bars.some((b) => b.at === row && b.from <= gap.from_ns && b.to >= gap.to_ns),
      `${what}: the gap of ${key(gap)} from ${gap.from_ns}`);
  }
  for (const bar of bars) {
    const own = gaps.filter((g) => rows[bar.at] === key(g));
    assert.ok(own.some((g) => g.from_ns === bar.from) && own.some((g) => g.to_ns === bar.to),
      `${what}: the bar from ${bar.from} to ${bar.to}`);
  }
}

// checkCurve compares a curve of percentiles with curves.json, or for an older run with run.json.
function checkCurve(recorded, panel, shapes, what) {
  const metric = shapes[0].figure.replace("time.", "");
  const curve = percentiles(recorded, metric);
  const time = recorded.run.time[metric];
  const points = curve ?? [["min", 0], ...[50, 75, 90, 95, 99, 99.5, 99.9, 99.99]
    .map((p) => [`p${String(p).replace(".", "_")}`, p])]
    .map(([key, p]) => ({ share: p / 100, value: time[`${key}_ns`] }))
    .filter((p) => p.value !== undefined && p.value !== null);
  const lines = shapes.filter((s) => s.role === "line").flatMap((s) => s.lines);
  assert.ok(lines.length > 0, `${what} has a line`);
  const placed = points.map((p) => ({ ...p, x: place(panel.x, p.share), y: place(panel.y, p.value) }));
  for (const [x, y] of lines.flat()) {
    assert.ok(placed.some((p) => Math.abs(p.x - x) <= atX && Math.abs(p.y - y) <= atY),
      `${what}: ${x}, ${y} is a percentile of the file`);
  }
  if (!curve) return;
  for (const p of placed) {
    const seen = heights(lines, p.x - 1, p.x + 1);
    assert.ok(seen && p.y >= seen.low - atY && p.y <= seen.high + atY, `${what}: p${p.share * 100} is drawn`);
  }
}

// markersOf returns the markers of a figure in a panel, each with its place.
const markersOf = (panel, figure) => panel.shapes
  .filter((s) => s.role === "dot" && s.value !== null && (!figure || s.figure === figure))
  .map((s) => ({ ...s, place: centre(s) }));

function checkMarkers(drawing, what) {
  for (const panel of drawing.panels) {
    const sideways = drawing.chart === "differences"; // its values are along the x axis
    for (const m of markersOf(panel)) {
      const [x, y] = m.place;
      isNear(sideways ? x : y, place(sideways ? panel.x : panel.y, m.value), sideways ? atX : 0.1,
        `${what}: ${m.figure} ${m.value}`);
      const beside = Math.abs((sideways ? y : x) - place(sideways ? panel.y : panel.x, m.at));
      const categories = panel.x.scale === "linear" && !sideways && Number.isInteger(panel.x.min + 0.5);
      const own = categories ? place(panel.x, 1) - place(panel.x, 0) : 26;
      assert.ok(beside <= own / 2 + atX, `${what}: ${m.figure} ${m.value} is at ${m.at}`);
    }
    for (const w of panel.shapes.filter((s) => s.role === "whisker" && s.low !== null)) {
      const [long] = w.lines;
      const ends = long.map((p) => p[sideways ? 0 : 1]).sort((a, b) => a - b);
      const axis = sideways ? panel.x : panel.y;
      const [first, last] = span(axis);
      const inPlot = (v) => Math.max(first, Math.min(last, place(axis, v)));
      const wantedEnds = [inPlot(w.low), inPlot(w.high)].sort((a, b) => a - b);
      isNear(ends[0], wantedEnds[0], 0.1, `${what}: an end of the whisker of ${w.figure}`);
      isNear(ends[1], wantedEnds[1], 0.1, `${what}: an end of the whisker of ${w.figure}`);
    }
  }
}

const sorted = (values) => [...values].sort((a, b) => a - b);

for (const name of ["study", "study-queue", "study-sizes"]) {
  test(`cells of ${name}`, async () => {
    const { page, close } = await openFile(browser, htmlOf(name));
    const document = jsonOf(name);
    for (const width of widths) {
      const cells = (await drawings(page, width)).find((d) => d.chart === "cells");
      assert.ok(cells, "the page has the chart cells");
      checkMarkers(cells, width);
      assert.ok(cells.panels.length >= 2);
      for (const panel of cells.panels) {
        const { figure } = panel.shapes.find((s) => s.figure);
        const medians = panel.shapes.filter((s) => s.role === "whisker" && s.figure === figure);
        const cellsOf = document.cells.filter((c) => c.figures[figure]?.median !== undefined &&
          c.figures[figure].median !== null);
        assert.deepEqual(sorted(markersOf(panel, figure).filter((m) => m.series === "median").map((m) => m.value)),
          sorted(cellsOf.map((c) => c.figures[figure].median)), `${width}: medians of ${figure}`);
        for (const m of medians) {
          assert.ok(cellsOf.some((c) => c.figures[figure].median === m.value), `${width}: ${figure} ${m.value}`);
        }
        const dots = markersOf(panel, figure).filter((m) => m.series === "runs").map((m) => m.value);
        const own = ownFigure[figure];
        if (own) assert.deepEqual(sorted(dots), sorted(runsOf(document).map(own).filter((v) => v !== null)),
          `${width}: runs' ${figure}`);
        assert.equal(dots.length, cellsOf.reduce((n, c) => n + c.figures[figure].n, 0),
          `${width}: a dot for each run that has ${figure}`);
      }
    }
    await close();
  });
}

// ownFigure reads some figures from run.json.
const ownFigure = {
  acked_per_s: ({ run }) => run.load.acked_per_s,
  delivered_per_s: ({ run }) => run.delivery.delivered_per_s,
  lag_peak: ({ run }) => run.lag.peak_records ?? null,
  queue_acked_per_s: ({ run }) => run.queue?.acked_per_s ?? null,
};

const runsOf = (document) => document.cells.flatMap((c) => c.runs).map((r) => readRun(path.resolve(root, r.dir ?? r)))
  .filter((r) => r.run.verdict.status === "valid");

test("probes of a search", async () => {
  const { page, close } = await openFile(browser, htmlOf("search"));
  const { search } = readJSON(path.join(root, all.search.args()[1], "campaign.json"));
  for (const width of widths) {
    const found = await drawings(page, width);
    const probes = found.find((d) => d.chart === "search");
    checkMarkers(probes, `search, ${width}`);
    const marked = markersOf(probes.panels[0], "offered_per_s").sort((a, b) => a.at - b.at);
    assert.deepEqual(marked.map((m) => m.value), search.probes.map((p) => p.offered_per_s));
    for (const m of marked) {
      const probe = search.probes[m.at];
      const judged = probe.passed ? "passed" : "failed";
      const fate = probe.phase === "capacity" ? "closed loop" : probe.stalled ? "stalled" : judged;
      if (!probe.too_few) assert.equal(m.series, fate, `probe ${m.at}`);
    }
    const confirmed = search.probes.findLast((p) =>
      p.phase === "confirm" && p.passed && p.offered_per_s === search.highest_per_s);
    const curve = search.probes.filter((p) => p.phase === "curve" || p === confirmed);
    if (!curve.some((p) => p.phase === "curve")) continue;
    const capacity = found.find((d) => d.chart === "capacity");
    checkMarkers(capacity, `capacity, ${width}`);
    const p99 = markersOf(capacity.panels[0], "response_p99_ns").filter((m) => m.series === "p99");
    assert.deepEqual(sorted(p99.map((m) => m.value)),
      sorted(curve.map((p) => p.response_p99_ns).filter((v) => v !== null)));
    for (const m of p99) {
      assert.ok(curve.some((p) => p.response_p99_ns === m.value &&
        Math.abs(p.offered_per_s / search.highest_per_s - m.at) < 1e-9));
      isNear(m.place[0], place(capacity.panels[0].x, m.at), atX, `capacity, ${width}: ${m.at}`);
    }
  }
  await close();
});

test("differences of a comparison", async () => {
  const { page, close } = await openFile(browser, htmlOf("compare"));
  const [against] = jsonOf("compare").against_the_first;
  const known = against.figures.filter((f) => f.difference_ratio !== null);
  for (const width of widths) {
    const drawing = (await drawings(page, width)).find((d) => d.chart === "differences");
    checkMarkers(drawing, width);
    const marked = markersOf(drawing.panels[0]).sort((a, b) => a.at - b.at);
    assert.deepEqual(marked.map((m) => m.value), known.map((f) => f.difference_ratio));
    for (const w of drawing.panels[0].shapes.filter((s) => s.role === "whisker" && s.low !== null)) {
      assert.equal(w.low, known[w.at].difference_ratio_low);
      assert.equal(w.high, known[w.at].difference_ratio_high);
    }
  }
  await close();
});

test("runs of a history", async () => {
  const { page, close } = await openFile(browser, htmlOf("history"));
  const document = jsonOf("history");
  for (const width of widths) {
    const drawing = (await drawings(page, width)).find((d) => d.chart === "history");
    checkMarkers(drawing, width);
    document.series.forEach((series, i) => {
      const marked = markersOf(drawing.panels[i], series.figure).sort((a, b) => a.at - b.at);
      assert.deepEqual(marked.map((m) => m.value), document.runs.map((r) => r.values[i]).filter((v) => v !== null));
    });
  }
  assert.ok(document.runs.length >= 5);
  await close();
});

const readJSON = (file) => JSON.parse(fs.readFileSync(file, "utf8"));
