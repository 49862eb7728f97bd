// Updates the page of the run in progress. The server sends complete states. When the run has
// ended, the page of the finished run replaces this page. It needs no server.

const calmly = matchMedia("(prefers-reduced-motion: reduce)");
const calmMs = 5000;
const byId = (id) => document.getElementById(id);

let latest = null; // the state that is not shown yet
let shownAt = -Infinity;
let timer = 0;
let paused = false;
let over = false;
let replacement = null; // replaces this page; null before the end, and after the replacement

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function showValues(values, end) {
  const list = byId("live-values");
  list.dataset.endNs = end ?? "";
  while (list.children.length > values.length) list.lastElementChild.remove();
  values.forEach((value, i) => {
    let card = list.children[i];
    if (!card) {
      card = document.createElement("div");
      card.append(document.createElement("dt"), document.createElement("dd"));
      card.lastElementChild.append(document.createElement("data"));
      list.append(card);
    }
    const data = card.querySelector("data");
    setText(card.querySelector("dt"), value.name);
    setText(data, value.text);
    data.value = value.value;
  });
}

// The drawings come from the server, which escapes their texts.
function showCharts(charts) {
  for (const figure of document.querySelectorAll("#live-charts figure")) {
    const drawing = charts[figure.dataset.chart];
    figure.hidden = !drawing;
    if (!drawing) continue;
    figure.querySelector(".wide").innerHTML = drawing.wide;
    figure.querySelector(".narrow").innerHTML = drawing.narrow;
  }
}

function showRows(section, rows) {
  const made = rows.map((texts) => {
    const row = document.createElement("tr");
    for (const text of texts) {
      const cell = document.createElement("td");
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  });
  document.querySelector(`#${section} tbody`).replaceChildren(...made);
}

function show(state) {
  setText(byId("live-name"), state.name || "Run that goes on");
  setText(byId("live-run"), state.run || "Run");
  setText(byId("live-status"), state.status);
  setText(byId("live-progress"), state.progress);
  byId("live-progress").hidden = state.progress === "";
  byId("live-bar").hidden = state.of === 0;
  const bar = document.querySelector("#live-bar progress");
  bar.max = state.of || 1;
  bar.value = state.done;
  document.title = `${state.name || "Run"} – running – Kafka Bench`;
  showValues(state.values, state.end_ns);
  showCharts(state.charts);
  byId("live-agents").hidden = state.agents.length === 0;
  showRows("live-agents", state.agents);
  showRows("live-events", state.events.map((event) => [event.at, event.kind, event.what, event.reason]));
}

// end fetches the page of the finished run, and replaces this page. A paused page fetches it too,
// because the server ends.
async function end(state) {
  if (over) return;
  over = true;
  try {
    replacement = await ending(state);
  } catch (error) {
    setText(byId("connection"), `The run has ended, and its page did not come: ${error.message}`);
  }
  source.close(); // the server may end now
  replace();
}

// ending returns a function that replaces this page.
async function ending(state) {
  if (state.page === "") {
    return () => {
      setText(document.querySelector("#live-verdict strong"), "ended: nothing was recorded");
      setText(byId("live-status"), "");
      byId("pause").remove();
    };
  }
  const answer = await fetch(state.page);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return () => {
    const page = new DOMParser().parseFromString(text, "text/html");
    document.title = page.title;
    byId("main").replaceWith(document.adoptNode(page.getElementById("main")));
    document.dispatchEvent(new Event("contentchange"));
  };
}

function replace() {
  if (paused || !replacement) return;
  replacement();
  replacement = null;
}

// turn shows the latest state, or waits: for reduced motion, or while the page is paused.
function turn() {
  clearTimeout(timer);
  if (!latest || paused) return;
  const wait = calmly.matches ? shownAt + calmMs - performance.now() : 0;
  if (wait > 0) {
    timer = setTimeout(turn, wait);
    return;
  }
  const state = latest;
  latest = null;
  shownAt = performance.now();
  show(state);
}

const source = new EventSource("/events");
source.addEventListener("message", (event) => {
  latest = JSON.parse(event.data);
  if (latest.ended) {
    clearTimeout(timer);
    end(latest);
    return;
  }
  setText(byId("connection"), paused ? "Paused." : "");
  turn();
});
source.addEventListener("error", () => {
  if (over) return;
  const closed = source.readyState === EventSource.CLOSED;
  setText(byId("connection"), closed
    ? "This page is not kept up to date: it is open in too many tabs, or its address needs the token."
    : "The run does not answer. What is shown is its last state.");
});

byId("pause").addEventListener("click", () => {
  paused = !paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
  setText(byId("connection"), paused ? "Paused." : "");
  if (over) replace();
  else turn();
});
