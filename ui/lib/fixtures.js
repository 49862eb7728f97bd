// The tested pages, by name: the tool's arguments for them, and the runs that they show.

import fs from "node:fs";
import path from "node:path";
import { library, pages, root } from "./places.js";

// A study may be recorded in its quick form or in its whole one: the name says nothing of the form.
const nameOf = (folder) => folder.replace(/^[^-]*-/, "").replace(/-[a-z0-9]{6}$/, "").replace("-quick", "");

const folders = (name, file) => fs.readdirSync(library).sort()
  .filter((n) => nameOf(n) === name)
  .map((n) => path.relative(root, path.join(library, n)))
  .filter((n) => fs.existsSync(path.join(root, n, file)));

function one(name, file) {
  const found = folders(name, file).at(-1);
  if (!found) throw new Error(`no folder ${name} in ${library} has ${file}`);
  return found;
}

// runs returns the folders of the runs with a name, oldest first.
export const runs = (name) => folders(name, "run.json");

// latest returns the last run with a name that has a series; campaign returns the last campaign.
export const latest = (name) => one(name, "intervals.ndjson");
export const campaign = (name) => one(name, "campaign.json");

// What setup.js makes in addition to the runs of results/.
export const special = {
  killed: "killed", // while it went on
  described: "killed-before-its-end", // a folder with scenario.yaml and nothing else
  broken: "broken", // run.json is cut off
  newer: "newer", // of a later version of the tool
  hostile: "hostile", // its texts are HTML
};
export const hostileText = '<img src=x onerror="document.title=1"><script>document.title=1</script>';

// A page is what `report`, `compare` or `history` prints with --format html.
export const all = {
  "run": { kind: "Run", args: () => ["report", latest("overload-tight")] },
  "run-gate": { kind: "Run", args: () => ["report", runs("backpressure-study-hysteresis-tight")[0]] },
  "run-credit": { kind: "Run", args: () => ["report", runs("backpressure-study-credit")[0]] },
  "run-failover": { kind: "Run", args: () => ["report", latest("broker-failover-leader-kill")] },
  "run-queue": { kind: "Run", args: () => ["report", latest("kmq-rolling-markers")] },
  "run-drops": { kind: "Run", args: () => ["report", latest("kmq-drops-nack-50-cap4-markers")] },
  "run-closed-loop": { kind: "Run", args: () => ["report", latest("baseline-max")] },
  "run-quick": { kind: "Run", args: () => ["report", latest("quick")] },
  "run-old": { kind: "Run", args: () => ["report", runs("overload-tight")[0]] },
  "run-killed": { kind: "Run", args: () => ["report", latest(special.killed)] },
  "run-hostile": { kind: "Run", args: () => ["report", latest(special.hostile)] },
  "run-imported": { kind: "Run", args: () => ["report", runs("producer-steady")[0]] },
  "run-imported-ssp": { kind: "Run", args: () => ["report", runs("results-bp-tight")[0]] },
  "several": { kind: "Runs side by side", args: () => ["report", ...runs("bursty-overload").slice(-2)] },
  "study": { kind: "Study", args: () => ["report", campaign("backpressure-study")] },
  "study-queue": { kind: "Study", args: () => ["report", campaign("kmq-drain")] },
  "study-sizes": { kind: "Study", args: () => ["report", campaign("sweep-record-size")] },
  "search": { kind: "Search", args: () => ["report", campaign("search-baseline")] },
  "compare": {
    kind: "Comparison",
    args: () => ["compare", `${campaign("backpressure-study")}:off`,
      `${campaign("backpressure-study")}:hysteresis-tight`],
  },
  "history": { kind: "History", args: () => ["history", ...runs("overload-tight")] },
};

export const htmlOf = (name) => path.join(pages, `${name}.html`);
export const jsonOf = (name) => JSON.parse(fs.readFileSync(path.join(pages, `${name}.json`), "utf8"));

// runOf returns the folder of the run on a page of one run.
export const runOf = (name) => path.join(root, all[name].args()[1]);
