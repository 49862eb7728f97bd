// Adds a crosshair to each chart: a slider whose value is a moment of the chart's x axis. The
// pointer, the arrow keys (one moment) and the Page keys (ten) move it. The places of values are
// computed from the attributes of the drawing.

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
const svgNamespace = "http://www.w3.org/2000/svg";

function wordAt(data, series, moment) {
  let place = 0;
  const start = moment * data.digits;
  for (let i = start; i < start + data.digits; i++) {
    place = place * 64 + digits.indexOf(series.at[i]);
  }
  return data.words[place];
}

// scaled converts a value to the scale of the axis.
function scaled(scale, value) {
  if (scale === "log") return Math.log10(value);
  if (scale === "percentile") return -Math.log10(1 - value);
  return value;
}

// axisOf returns the x axis of a drawing, in the drawing's pixels.
function axisOf(svg) {
  const panel = svg.querySelector("g.panel");
  if (!panel) return null;
  const d = panel.dataset;
  const low = scaled(d.xScale, Number(d.xMin));
  const high = scaled(d.xScale, Number(d.xMax));
  const from = Number(d.xPxMin);
  const to = Number(d.xPxMax);
  return { from, to, at: (v) => from + ((scaled(d.xScale, v) - low) / (high - low)) * (to - from) };
}

function lineIn(svg) {
  const line = document.createElementNS(svgNamespace, "line");
  const height = svg.viewBox.baseVal.height;
  line.setAttribute("class", "moment");
  line.setAttribute("y1", "0");
  line.setAttribute("y2", String(height));
  svg.append(line);
  return line;
}

function nearest(values, wanted) {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  if (low > 0 && wanted - values[low - 1] < values[low] - wanted) low--;
  return low;
}

function crosshair(figure, grids) {
  const slider = figure.querySelector(".crosshair");
  if (!slider || !slider.hidden) return;
  const data = JSON.parse(figure.querySelector(".crosshair-data").textContent);
  const { labels, x: places, first, step, count } = grids[data.grid];
  const moments = places ?? Array.from({ length: count }, (_, i) => first + i * step);
  const output = figure.querySelector(".values");
  const thumb = slider.querySelector("circle");
  const drawings = [...figure.querySelectorAll(".plot svg")].map((svg) => ({ svg, axis: axisOf(svg), line: null }));
  const last = moments.length - 1;
  let moment = 0;

  function show(wanted) {
    moment = Math.max(0, Math.min(last, wanted));
    const words = data.series.map((s) => `${s.name} ${wordAt(data, s, moment)}`);
    const text = [labels[moment], ...words].join("; ");
    slider.setAttribute("aria-valuenow", String(moment));
    slider.setAttribute("aria-valuetext", text);
    output.textContent = text;
    for (const d of drawings) {
      if (!d.axis) continue;
      d.line ??= lineIn(d.svg);
      const at = d.axis.at(moments[moment]);
      d.line.setAttribute("x1", String(at));
      d.line.setAttribute("x2", String(at));
      if (d.svg.clientWidth > 0) {
        thumb.setAttribute("cx", `${(100 * at) / d.svg.viewBox.baseVal.width}%`);
      }
    }
  }

  const steps = {
    ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity,
  };
  slider.addEventListener("keydown", (event) => {
    if (event.key in steps && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      show(moment + steps[event.key]);
    }
  });
  function point(event, surface) {
    const drawing = drawings.find((d) => d.svg.clientWidth > 0 && d.axis);
    if (!drawing) return;
    const box = (surface === slider ? slider : drawing.svg).getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * drawing.svg.viewBox.baseVal.width;
    show(nearest(moments.map(drawing.axis.at), at));
  }
  for (const surface of [figure.querySelector(".plot"), slider]) {
    surface.addEventListener("pointermove", (event) => {
      if (surface !== slider || event.buttons) point(event, surface);
    });
    surface.addEventListener("pointerdown", (event) => point(event, surface));
  }
  slider.addEventListener("focus", () => show(moment));
  slider.hidden = false;
  output.hidden = false;
}

// A page that changes its content sends "contentchange" to its document.
function prepare() {
  const grids = JSON.parse(document.getElementById("grids")?.textContent ?? "[]");
  document.querySelectorAll("figure.drawn").forEach((figure) => crosshair(figure, grids));
}

prepare();
document.addEventListener("contentchange", prepare);
