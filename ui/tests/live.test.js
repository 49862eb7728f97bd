// The page of a run that goes on: it is updated, and becomes the page of the finished run.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { axe, launch, open, openFile, overlaps, screenshot, sticksOut } from "../lib/browser.js";
import { made } from "../lib/places.js";
import { print, start } from "../lib/tool.js";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

// turn lets other tasks run.
const turn = () => new Promise((on) => { setTimeout(on, 10); });

// seen records, in the page, when it showed each interval.
const record = () => {
  globalThis.shown = [];
  const list = document.getElementById("live-values");
  const note = () => {
    const end = list.dataset.endNs;
    if (end) globalThis.shown.push({ endNs: Number(end), at: Date.now() });
  };
  new MutationObserver(note).observe(list, { attributes: true, attributeFilter: ["data-end-ns"] });
  note();
};

test("a live page keeps up with the run and becomes its page, and everything ends", async (t) => {
  const out = path.join(made, "live");
  fs.rmSync(out, { recursive: true, force: true });
  const run = start("run", "quick", "--cluster", "embedded", "--web", "--out", out);
  let over = false;
  t.after(() => { // if the test fails
    over = true;
    run.child.kill("SIGINT");
  });
  const home = await run.line("page: ");
  const child = childOf(run.pid);
  assert.ok(child, "the page is served by a process of its own");
  const tab = await open(browser, new URL(home).origin);
  await tab.page.goto(home);
  await tab.page.evaluate(record);
  const paused = await open(browser, new URL(home).origin);
  await paused.page.goto(home);

  // When each line of the series was written. A line that is seen late counts as written late.
  const written = [];
  const watching = (async () => {
    let file;
    while (!over) {
      file ??= fs.existsSync(out) && fs.readdirSync(out)
        .map((d) => path.join(out, d, "intervals.ndjson")).find(fs.existsSync);
      if (file) {
        const lines = fs.readFileSync(file, "utf8").split("\n").slice(0, -1);
        const at = Date.now();
        while (written.length < lines.length) written.push({ endNs: JSON.parse(lines[written.length]).end_ns, at });
      }
      await turn();
    }
    return path.dirname(file);
  })();

  await tab.page.waitForSelector("#live-values data");
  assert.equal(await tab.page.textContent("#live-verdict"), "running: no verdict yet");
  await tab.page.waitForSelector('#live-charts figure[data-chart="timeline"]:not([hidden]) svg');

  // A tab that is paused keeps what it shows.
  await paused.page.waitForSelector('#live-charts figure[data-chart="timeline"]:not([hidden]) svg');
  await paused.page.getByRole("button", { name: "Pause" }).click();
  assert.equal(await paused.page.getAttribute("#pause", "aria-pressed"), "true");
  const kept = await paused.page.textContent("main");
  assert.deepEqual(await axe(paused.page), [], "axe, light");
  await screenshot(paused.page, "live-light");
  await paused.page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await axe(paused.page, "color-contrast"), [], "axe, dark");
  await screenshot(paused.page, "live-dark");
  await paused.page.setViewportSize({ width: 360, height: 740 });
  assert.deepEqual(await sticksOut(paused.page), []);
  assert.deepEqual(await overlaps(paused.page), []);
  await screenshot(paused.page, "live-360");

  await tab.page.waitForSelector("#live", { state: "detached", timeout: 0 });
  const code = await run.ended;
  assert.ok(code === 0 || code === 1, `${code}: ${run.text()}`); // on a busy machine a run may be invalid
  over = true;
  const dir = await watching;

  const shown = await tab.page.evaluate(() => globalThis.shown);
  assert.ok(written.length >= 5, `${written.length} intervals`);
  for (let k = 0; k + 2 < written.length; k++) {
    const first = shown.find((s) => s.endNs >= written[k].endNs);
    if (written[k].at < shown[0].at) continue; // it was written before the page was there
    assert.ok(first && first.at <= written[k + 2].at,
      `interval ${k} was shown at ${first?.at}, and interval ${k + 2} was written at ${written[k + 2].at}`);
  }

  assert.ok(!alive(child), "the process of the page has ended, too");

  // Both tabs now have the page of the run, without a server.
  assert.equal(await paused.page.textContent("main"), kept, "what is paused stays");
  await paused.page.getByRole("button", { name: "Pause" }).click();
  await paused.page.waitForSelector("#live", { state: "detached" });
  const file = path.join(made, "pages", "live.html");
  fs.writeFileSync(file, await print("report", dir, "--format", "html"));
  const report = await openFile(browser, file);
  const wanted = await report.page.innerHTML("main");
  assert.ok(wanted.length > 10_000);
  for (const { page } of [tab, paused]) {
    assert.equal(await page.innerHTML("main") === wanted, true, "the page is that of report --format html");
    const slider = page.locator('figure[data-chart="timeline"] [role="slider"]');
    await slider.focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await slider.getAttribute("aria-valuenow"), "1");
  }
  for (const opened of [tab, paused, report]) await opened.close();
});

// childOf returns the process that serves a run's pages: its child with the same program. (Linux)
function childOf(pid) {
  return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean)
    .concat(...fs.readdirSync(`/proc/${pid}/task`)
      .map((t) => fs.readFileSync(`/proc/${pid}/task/${t}/children`, "utf8").split(" ")))
    .find((c) => c && fs.readFileSync(`/proc/${c}/cmdline`, "utf8").split("\0").includes("pages"));
}

const alive = (pid) => fs.existsSync(`/proc/${pid}`);
