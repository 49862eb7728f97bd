// `serve DIR`: the list of runs with its filter, the boxes A and B, and the pages behind it.

import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { axe, launch, open, screenshot, sticksOut } from "../lib/browser.js";
import { hostileText, latest, special } from "../lib/fixtures.js";
import { field, readRun } from "../lib/files.js";
import { library } from "../lib/places.js";
import { print, start } from "../lib/tool.js";

let browser;
let server;
let home;
before(async () => {
  browser = await launch();
  server = start("serve", library, "--listen", "127.0.0.1:0");
  home = await server.line("page: ");
});
after(async () => {
  await browser.close();
  server.child.kill("SIGINT");
  assert.equal(await server.ended, 0, server.text());
});

const ofFigure = {
  offered_per_s: "load.offered_per_s", acked_per_s: "load.acked_per_s",
  e2e_response_time_p99: "time.e2e_response_time.p99_ns", lag_peak: "lag.peak_records",
};

test("the list in light, dark and on a telephone; its values are those of the files", async () => {
  const { page, close } = await open(browser, home);
  const answer = await page.goto(home);
  assert.match(answer.headers()["content-security-policy"], /default-src 'none'.*frame-ancestors 'none'/);
  assert.deepEqual(await axe(page), []);
  await screenshot(page, "list-light");
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await axe(page, "color-contrast"), []);
  await screenshot(page, "list-dark");
  await page.emulateMedia({ media: "print", colorScheme: "light" });
  assert.deepEqual(await axe(page, "color-contrast"), []);
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 360, height: 740 });
  assert.deepEqual(await sticksOut(page), []);
  await screenshot(page, "list-360");
  const rows = await page.locator("tr.run").evaluateAll((all) => all.map((row) => ({
    folder: row.dataset.folder,
    values: [...row.querySelectorAll("data")].map((d) => ({ value: Number(d.value), figure: d.dataset.figure })),
  })));
  assert.equal(rows.length, 50);
  for (const { folder, values } of rows) {
    const { run } = readRun(path.join(library, folder));
    for (const { figure, value } of values) assert.equal(value, field(run, ofFigure[figure]), `${figure} of ${folder}`);
    if (run.verdict.status === "valid" && !run.run.imported) assert.ok(values.length >= 2, folder);
  }
  await close();
});

test("the list turns its pages, and filters by name, verdict and day", async () => {
  const { page, close } = await open(browser, home);
  await page.goto(home);
  await page.locator("a[rel=next]").click();
  assert.match(await page.textContent("#shown"), /^Runs 51 to 100 /);
  await page.locator("a[rel=prev]").click();
  assert.match(await page.textContent("#shown"), /^Runs 1 to 50 /);

  const filter = async (fields) => {
    await page.goto(home);
    for (const [name, value] of Object.entries(fields)) {
      const input = page.locator(`#filter [name="${name}"]`);
      if (name === "verdict") await input.selectOption(value);
      else await input.fill(value);
    }
    await page.locator("#filter").getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/\?/);
    return page.locator("tr.run").evaluateAll((all) => all.map((row) => row.dataset.folder));
  };
  const overload = await filter({ name: "overload-tight" });
  assert.ok(overload.length >= 6 && overload.every((f) => f.includes("overload-tight")), overload.join());
  const old = await filter({ from: "2026-11-21", to: "2026-11-21" });
  assert.ok(old.length >= 1 && old.every((f) => f.startsWith("20261121T")), old.join());
  const unreadable = await filter({ verdict: "unreadable" });
  for (const name of [special.broken, special.newer]) assert.ok(unreadable.includes(folderOf(name)), unreadable.join());
  const unfinished = await filter({ verdict: "unfinished" });
  assert.ok(unfinished.includes(folderOf(special.killed)), unfinished.join());
  assert.deepEqual(await filter({ name: "no-such-run" }), []);
  assert.match(await page.textContent("#runs"), /No run fits\./);
  assert.deepEqual(await axe(page), []);
  await close();
});

const folderOf = (name) => ({
  [special.killed]: "20261124T000000Z-killed-k3ll3d", [special.broken]: "20261124T000000Z-broken-br4k3n",
  [special.newer]: "20261124T000000Z-newer-n3w3r2",
})[name];

test("a run that is broken, of a later version, or killed is a row and a page that say so", async () => {
  const { page, close } = await open(browser, home);
  for (const [name, words] of [
    [special.broken, /run\.json/], [special.newer, /1000|newer|later/],
    [special.killed, /not finished, last line .+ ago/],
  ]) {
    await page.goto(`${home}?name=${name}`);
    const row = page.locator(`tr.run[data-folder="${folderOf(name)}"]`);
    assert.match(await row.textContent(), words);
    if (name === special.killed) {
      await row.locator("th a").click();
      assert.match(await page.textContent("main"), /did not finish|not finished/);
    }
  }
  await close();
});

test("a run whose page can't be made answers with the reason", async () => {
  const { page, faults } = await open(browser, home);
  for (const name of [special.broken, special.newer]) {
    const answer = await page.goto(`${home}runs/${folderOf(name)}`);
    assert.ok(answer.status() >= 400, String(answer.status()));
    assert.match(await page.textContent("main"), /run\.json/);
    assert.deepEqual(await axe(page), []);
    await screenshot(page, `serve-${name}`);
  }
  const bad = await page.goto(`${home}?from=yesterday&verdict=great`);
  assert.equal(bad.status(), 400);
  const text = await page.textContent("main");
  assert.ok(text.includes("yesterday") && text.includes("great"), "all faults are told at once");
  assert.equal((await page.goto(`${home}runs/no-such-run`)).status(), 404);
  assert.deepEqual(faults.filter((f) => !f.includes("Failed to load resource")), []);
  await page.context().close();
});

test("boxes A and B, and Compare, from the keyboard", async () => {
  const { page, close } = await open(browser, home);
  await page.goto(`${home}?name=backpressure-study`);
  const [a, b] = await page.locator("tr.run").evaluateAll((rows) => {
    const folders = rows.map((r) => r.dataset.folder);
    return [folders.find((f) => f.includes("-off-")), folders.find((f) => f.includes("-credit-tight-"))];
  });
  for (const [set, folder] of [["a", a], ["b", b]]) {
    await page.locator(`input[name="${set}"][value="${folder}"]`).focus();
    await page.keyboard.press("Space");
  }
  await page.getByRole("button", { name: "Compare" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/compare\?/);
  assert.equal(await page.textContent(".kind"), "Comparison");
  assert.deepEqual(await axe(page), []);
  await screenshot(page, "serve-compare");
  const document = JSON.parse(await print("compare", path.join(library, a), path.join(library, b), "--format", "json"));
  const figures = document.against_the_first[0].figures;
  const shown = await page.locator("main data")
    .evaluateAll((all) => all.map((d) => ({ value: Number(d.value), ...d.dataset })));
  assert.ok(shown.length > 10);
  for (const { figure, stat, value } of shown) {
    assert.equal(value, field(figures.find((f) => f.figure === figure), stat), `${figure} ${stat}`);
  }
  await page.goto(`${home}?name=backpressure-study`);
  await close();
});

test("Compare without a run in each set says what to do", async () => {
  const { page, faults } = await open(browser, home);
  await page.goto(home);
  await page.getByRole("button", { name: "Compare" }).click();
  await page.waitForURL(/\/compare/);
  assert.match(await page.textContent("main"), /tick one of each/);
  assert.deepEqual(faults.filter((f) => !f.includes("Failed to load resource")), []);
  await page.context().close();
});

test("pages behind the list: run, campaign, history", async () => {
  const { page, close } = await open(browser, home);
  const name = path.basename(latest("backpressure-study-credit"));
  await page.goto(`${home}?name=backpressure-study`);
  await page.locator("tr.campaign th a", { hasText: "backpressure-study" }).first().click();
  assert.equal(await page.textContent(".kind"), "Study");
  await page.locator("#runs a").first().click();
  assert.equal(await page.textContent(".kind"), "Run");
  await page.goto(`${home}runs/${name}`);
  await page.getByRole("link", { name: /^History of / }).click();
  assert.equal(await page.textContent(".kind"), "History");
  await page.getByRole("link", { name: "All runs" }).click();
  assert.equal(await page.textContent(".kind"), "Recorded runs");
  await close();
});

test("text in files is text, in the list and in an address", async () => {
  const { page, close } = await open(browser, home);
  await page.goto(`${home}?name=${special.hostile}`);
  assert.ok((await page.locator("tr.run th a").allTextContents()).includes(special.hostile));
  assert.equal(await page.locator("main img, main script").count(), 0);
  await page.goto(`${home}?name=${encodeURIComponent(`"${hostileText}`)}`);
  assert.equal(await page.inputValue('[name="name"]'), `"${hostileText}`);
  await close();
});

test("JS and CSS of all pages are 60 KB at most", async () => {
  const { page, close } = await open(browser, home);
  const parts = new Map([["/assets/live.js", null]]);
  for (const address of [home, `${home}runs/${path.basename(latest("quick"))}`]) {
    await page.goto(address);
    const found = await page.locator("script[src], link[rel=stylesheet]").evaluateAll((all) => all
      .map((e) => e.src || e.href));
    for (const part of found) parts.set(new URL(part).pathname, null);
  }
  for (const part of parts.keys()) {
    parts.set(part, await page.evaluate((p) => fetch(p).then(async (r) => (r.ok ? (await r.text()).length : 0)), part));
  }
  const bytes = [...parts.values()].reduce((a, b) => a + b);
  assert.ok(parts.size >= 3 && bytes > 10_000 && bytes <= 60_000, `${bytes} bytes in ${[...parts.keys()]}`);
  await close();
});
