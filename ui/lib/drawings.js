// Reads drawings from a page, as the browser has them, and computes the places of values from the
// ends of each panel's axes.

// drawings returns all drawings of a page for wide, or for narrow screens.
export function drawings(page, which) {
  return page.evaluate((selector) => {
    const number = (text) => (text === undefined || text === null ? null : Number(text));
    // Points of a path, line by line. Its commands are M and l, h and v, and Z.
    const pointsOf = (d) => {
      const lines = [];
      let x = 0;
      let y = 0;
      for (const [, command, rest] of d.matchAll(/([MLlhvZ])([^MLlhvZ]*)/g)) {
        const n = (rest.match(/-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?/g) ?? []).map(Number);
        if (command === "Z") continue;
        if (command === "M") lines.push([]);
        if (command === "M" || command === "L") [x, y] = n;
        else if (command === "l") [x, y] = [x + n[0], y + n[1]];
        else if (command === "h") x += n[0];
        else y += n[0];
        lines.at(-1).push([x, y]);
      }
      return lines;
    };
    const axisOf = (data, name) => ({
      scale: data[`${name}Scale`], min: number(data[`${name}Min`]), max: number(data[`${name}Max`]),
      from: number(data[`${name}PxMin`]), to: number(data[`${name}PxMax`]), zero: number(data[`${name}PxZero`]),
    });
    const shapeOf = (element) => {
      const d = element.dataset;
      const shape = {
        form: element.tagName, role: element.classList[0], figure: d.figure, series: d.series, words: d.words,
        at: number(d.at), value: number(d.value), from: number(d.from), to: number(d.to),
        low: number(d.low), high: number(d.high),
      };
      const attribute = (name) => Number(element.getAttribute(name));
      if (element.tagName === "path") shape.lines = pointsOf(element.getAttribute("d"));
      if (element.tagName === "circle") shape.lines = [[[attribute("cx"), attribute("cy")]]];
      if (element.tagName === "rect") {
        for (const name of ["x", "y", "width", "height"]) shape[name] = attribute(name);
      }
      if (element.tagName === "text") {
        Object.assign(shape, {
          x: attribute("x"), y: attribute("y"), anchor: element.getAttribute("text-anchor") ?? "start",
          text: element.querySelector("title")?.textContent ?? element.textContent,
        });
      }
      return shape;
    };
    return [...document.querySelectorAll("figure.drawn")].flatMap((figure) => {
      const svg = figure.querySelector(selector) ?? figure.querySelector(".only > svg");
      if (!svg) return [];
      return [{
        chart: figure.dataset.chart,
        panels: [...svg.querySelectorAll("g.panel")].map((g) => ({
          x: axisOf(g.dataset, "x"), y: axisOf(g.dataset, "y"), shapes: [...g.children].map(shapeOf),
        })),
        marks: [...svg.querySelectorAll("g.marks > *")].map(shapeOf),
        words: [...svg.querySelectorAll("g.words > *")].map(shapeOf),
      }];
    });
  }, which === "narrow" ? ".narrow > svg" : ".wide > svg");
}

const even = {
  linear: (v) => v,
  log: (v) => Math.log10(v),
  percentile: (v) => -Math.log10(1 - v),
};

// place is the place of a value, in the drawing's pixels.
export function place(axis, value) {
  if (value === 0 && axis.zero !== null) return axis.zero;
  const f = even[axis.scale];
  return axis.from + ((f(value) - f(axis.min)) / (f(axis.max) - f(axis.min))) * (axis.to - axis.from);
}

// span returns the ends of an axis in pixels, the smaller first.
export function span(axis) {
  const ends = [axis.from, axis.to, axis.zero ?? axis.from];
  return [Math.min(...ends), Math.max(...ends)];
}

// heights returns the lowest and the highest y of lines between two x; null if the lines have no
// point there.
export function heights(lines, from, to) {
  let low = Infinity;
  let high = -Infinity;
  const add = (y) => {
    low = Math.min(low, y);
    high = Math.max(high, y);
  };
  for (const line of lines) {
    if (line.length === 1 && line[0][0] >= from && line[0][0] <= to) add(line[0][1]);
    for (let i = 1; i < line.length; i++) {
      const [[x0, y0], [x1, y1]] = line[i - 1][0] <= line[i][0] ? [line[i - 1], line[i]] : [line[i], line[i - 1]];
      if (x1 < from || x0 > to) continue;
      const at = (x) => (x1 === x0 ? y0 : y0 + ((y1 - y0) * (x - x0)) / (x1 - x0));
      add(at(Math.max(x0, from)));
      add(at(Math.min(x1, to)));
      if (x1 === x0) add(y1);
    }
  }
  return low === Infinity ? null : { low, high };
}

// centre is the point that a marker marks. For a triangle, it is not the middle of its height.
export function centre(shape) {
  const points = shape.lines[0];
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  const x = (Math.min(...xs) + Math.max(...xs)) / 2;
  if (points.length !== 3) return [x, (Math.min(...ys) + Math.max(...ys)) / 2];
  const tip = points.find(([px]) => Math.abs(px - x) < 0.5);
  const base = points.find((p) => p !== tip);
  return [x, tip[1] + 4 * Math.sign(base[1] - tip[1])];
}

const factors = {
  "": 1, "/s": 1, "%": 0.01, "×": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9,
  "B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "KB": 1e3, "kB": 1e3, "MB": 1e6, "GB": 1e9,
};

// valueOf parses a label: its value, and the rounding error of its last digit. It returns null if
// the label is not a number with a unit.
export function valueOf(text) {
  const found = text.match(/^([+\-−]?)([\d,]+(?:\.(\d+))?) ?([^\d]*?)(\/s)?$/);
  if (!found) return null;
  const unit = found[4] === "" ? (found[5] ?? "") : found[4];
  if (!(unit in factors)) return null;
  const sign = found[1] === "-" || found[1] === "−" ? -1 : 1;
  return {
    value: sign * Number(found[2].replaceAll(",", "")) * factors[unit],
    slack: 0.5 * 10 ** -(found[3]?.length ?? 0) * factors[unit],
  };
}
