// Makes the tests' data in build/ui: a library of all runs of results/, with some that are killed,
// broken, imported or old; pages of these runs; and the export of the library.

import fs from "node:fs";
import path from "node:path";
import { library, made, pages, root, screenshots, site } from "./lib/places.js";
import { all, htmlOf, hostileText, latest, special } from "./lib/fixtures.js";
import { print, start } from "./lib/tool.js";

const folder = (name, id) => path.join(library, `20261124T000000Z-${name}-${id}`);

// changed copies a run under another name, with another run.json.
function changed(from, name, id, change) {
  const to = folder(name, id);
  fs.cpSync(path.join(root, from), to, { recursive: true });
  const file = path.join(to, "run.json");
  fs.writeFileSync(file, change(fs.readFileSync(file, "utf8")));
  return to;
}

const hostile = (text) => {
  const run = JSON.parse(text);
  run.run.name = special.hostile; // a name with other characters is refused
  run.run.id = "h2st3l";
  run.verdict.warnings = [hostileText];
  run.run.driver = { ...run.run.driver, name: hostileText };
  return JSON.stringify(run);
};

// killed makes a run and kills it: it has intervals, and no end.
async function killed() {
  const out = path.join(made, "killed");
  const run = start("run", "quick", "--cluster", "embedded", "--out", out);
  const series = () => fs.existsSync(out) && fs.readdirSync(out).map((d) => path.join(out, d, "intervals.ndjson"))
    .find((file) => fs.existsSync(file) && fs.readFileSync(file, "utf8").split("\n").length > 4);
  let file;
  while (!(file = series())) { // try again after the process had time for other work
    if (run.child.exitCode !== null) throw new Error(`quick ended before it was killed: ${run.text()}`);
    await new Promise((on) => { setTimeout(on, 100); });
  }
  run.child.kill("SIGKILL");
  await run.ended;
  fs.renameSync(path.dirname(file), folder(special.killed, "k3ll3d"));
}

async function makeLibrary() {
  fs.cpSync(path.join(root, "results"), library, { recursive: true });
  const old = "internal/result/testdata/20261121T195900Z-overload-tight-t3va6k";
  fs.cpSync(path.join(root, old), path.join(library, path.basename(old)), { recursive: true });
  const like = latest("overload-tight");
  changed(like, special.broken, "br4k3n", (text) => text.slice(0, 1000));
  changed(like, special.newer, "n3w3r2", (text) => JSON.stringify({ ...JSON.parse(text), schema_version: 1000 }));
  const events = path.join(changed(like, special.hostile, "h2st3l", hostile), "events.ndjson");
  const event = { at_ns: 1e9, kind: "fault", what: hostileText, reason: hostileText };
  fs.appendFileSync(events, `${JSON.stringify(event)}\n`);
  fs.mkdirSync(folder(special.described, "d3scr2"));
  const scenario = path.join(root, latest("slow-consumer"), "scenario.yaml");
  fs.copyFileSync(scenario, path.join(folder(special.described, "d3scr2"), "scenario.yaml"));
  const foreign = path.join(root, "internal/result/foreign/testdata");
  const ssp = fs.readdirSync(path.join(foreign, "ssp")).filter((n) => n.endsWith(".json"))
    .map((n) => path.join(foreign, "ssp", n));
  const others = ["producer-steady.txt", "omb.json"].map((n) => path.join(foreign, n));
  await print("import", ...others, ...ssp, "--out", library);
  await killed();
}

async function makePages() {
  fs.mkdirSync(pages, { recursive: true });
  const todo = Object.entries(all);
  const worker = async () => {
    for (let next = todo.shift(); next; next = todo.shift()) {
      const [name, page] = next;
      for (const format of ["html", "json"]) {
        fs.writeFileSync(htmlOf(name).replace(/html$/, format), await print(...page.args(), "--format", format));
      }
    }
  };
  await Promise.all([worker(), worker()]);
}

fs.rmSync(made, { recursive: true, force: true });
fs.mkdirSync(screenshots, { recursive: true });
const begin = Date.now();
const took = (what) => console.log(`${what}, ${((Date.now() - begin) / 1000).toFixed(1)} s`);
await makeLibrary();
took(`${fs.readdirSync(library).length} folders in build/ui/library`);
const exported = print("serve", library, "--export", site);
await makePages();
took(`${Object.keys(all).length} pages in build/ui/pages`);
await exported;
took("the library as files in build/ui/site");
