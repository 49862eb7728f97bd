// Every page, as people use it: light, dark, on paper, on a telephone and without a mouse.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, describe, test } from "node:test";
import { axe, launch, openFile, overlaps, screenshot, sticksOut } from "../lib/browser.js";
import { all, hostileText, htmlOf, runOf } from "../lib/fixtures.js";
import { drawings, place, valueOf } from "../lib/drawings.js";
import { readRun } from "../lib/files.js";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

// Pages that are tested in every scheme: one of each kind. The others have the same parts.
const everywhere = new Set(["run", "study", "search", "compare", "history", "several"]);

// Pages that axe checks, for seconds each: those with parts that no other has.
const audited = new Set([...everywhere, "run-failover", "run-killed", "run-imported"]);

// Rules that another scheme may break.
const ofColours = ["color-contrast", "link-in-text-block"];

describe("each page", () => {
  for (const [name, { kind }] of Object.entries(all)) {
    test(name, async () => {
      const { page, close } = await openFile(browser, htmlOf(name));
      assert.equal(await page.textContent(".kind"), kind);
      assert.equal(await page.locator("h1").count(), 1);
      const faults = []; // all of them, as each may have its own cause
      const none = (where, found) => faults.push(...found.map((fault) => `${where}: ${fault}`));
      if (audited.has(name)) none("light", await axe(page));
      none("words of drawings", await overlaps(page));
      await screenshot(page, `${name}-light`);
      if (everywhere.has(name)) {
        const light = await background(page);
        await page.emulateMedia({ colorScheme: "dark" });
        assert.notEqual(await background(page), light, "the dark scheme is another");
        none("dark", await axe(page, ...ofColours));
        await screenshot(page, `${name}-dark`);
        await page.emulateMedia({ media: "print" });
        assert.equal(await background(page), light, "paper is light");
        if (name === "run" || name === "compare") none("print", await axe(page, ...ofColours));
        await page.emulateMedia({ media: "screen", colorScheme: "light" });
      }
      await page.setViewportSize({ width: 360, height: 740 });
      none("360 px", await sticksOut(page));
      none("words of drawings at 360 px", await overlaps(page));
      await screenshot(page, `${name}-360`);
      assert.deepEqual(faults, []);
      await close();
    });
  }
});

const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

test("the slider of a chart says each moment of the run, and its keys move it", async () => {
  const { page, close } = await openFile(browser, htmlOf("run-gate"));
  const { intervals } = readRun(runOf("run-gate"));
  const slider = page.locator('figure[data-chart="timeline"] [role="slider"]');
  const last = intervals.length - 1;
  assert.equal(await slider.getAttribute("aria-valuemax"), String(last));
  await slider.focus();
  const at = async () => Number(await slider.getAttribute("aria-valuenow"));
  let wanted = 0;
  for (const [key, to] of [
    ["ArrowRight", 1], ["ArrowRight", 2], ["ArrowUp", 3], ["ArrowLeft", 2], ["ArrowDown", 1], ["PageUp", 11],
    ["PageUp", Math.min(21, last)], ["PageDown", Math.min(21, last) - 10], ["End", last], ["ArrowRight", last],
      ["Home", 0], ["ArrowLeft", 0],
  ]) {
    await page.keyboard.press(key);
    wanted = to;
    assert.equal(await at(), wanted, key);
  }
  const [drawing] = (await drawings(page, "wide")).filter((d) => d.chart === "timeline");
  for (let k = 0; k <= last; k++) {
    const interval = intervals[k];
    const seconds = (interval.read_to_ns - interval.read_from_ns) / 1e9; // the divisor of rates
    const [time, ...words] = (await slider.getAttribute("aria-valuetext")).split("; ");
    assertSays(time, interval.start_ns);
    const said = Object.fromEntries(words.map((w) => [w.slice(0, w.indexOf(" ")), w.slice(w.indexOf(" ") + 1)]));
    for (const [series, value] of Object.entries({
      offered: interval.scheduled / seconds, acked: interval.acked / seconds, delivered: interval.delivered / seconds,
      p50: interval.time.e2e_response_time?.p50_ns, p99: interval.time.e2e_response_time?.p99_ns,
      max: interval.time.e2e_response_time?.max_ns,
    })) {
      assert.ok(series in said, `moment ${k} has ${series}`);
      const least = { p50: 20, p99: 1000, max: 1 }[series] ?? 0; // a percentile has ten values beyond it
      if ((interval.time.e2e_response_time?.count ?? 0) >= least) {
        assertSays(said[series], value);
      }
    }
    assert.equal(await page.textContent('figure[data-chart="timeline"] .values'),
      await slider.getAttribute("aria-valuetext"));
    const line = await page.locator('figure[data-chart="timeline"] .wide line.moment').getAttribute("x1");
    const middle = place(drawing.panels[0].x, (interval.start_ns + interval.end_ns) / 2);
    assert.ok(Math.abs(Number(line) - middle) <= 0.5, `the line of moment ${k} is at ${line}, not at ${middle}`);
    await page.keyboard.press("ArrowRight");
  }
  await close();
});

function assertSays(words, value) {
  const said = valueOf(words);
  assert.ok(said && Math.abs(said.value - value) <= said.slack * 1.0001, `"${words}" is not ${value}`);
}

test("all that can be worked is reached with the Tab key, and seen", async () => {
  const { page, close } = await openFile(browser, htmlOf("run"));
  const reached = new Set();
  for (let i = 0; i < 500; i++) {
    await page.keyboard.press("Tab");
    const on = await page.evaluate(() => {
      const e = document.activeElement;
      if (e === document.body) return null;
      e.dataset.reached ??= String(document.querySelectorAll("[data-reached]").length);
      return { id: e.dataset.reached, outline: getComputedStyle(e).outlineStyle, name: e.outerHTML.slice(0, 80) };
    });
    if (!on) break;
    assert.notEqual(on.outline, "none", `${on.name} shows that it has the focus`);
    reached.add(on.id);
  }
  const wanted = "a[href], summary, [role=slider], input, .scroll";
  const left = await page.evaluate((selector) => [...document.querySelectorAll(selector)]
    .filter((e) => e.checkVisibility() && !e.dataset.reached).map((e) => e.outerHTML.slice(0, 80)), wanted);
  assert.deepEqual(left, [], "not reached");
  assert.ok(reached.size >= 10);
  await close();
});

test("paper has all tables, and no crosshair", async () => {
  const { page, close } = await openFile(browser, htmlOf("run"));
  await page.evaluate(() => {
    addEventListener("beforeprint", () => {
      document.body.dataset.folded = String(document.querySelectorAll("details:not([open])").length);
    });
  });
  assert.ok(await page.locator("details:not([open])").count() > 3, "on the screen they are folded");
  const pdf = await page.pdf();
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.equal(await page.getAttribute("body", "data-folded"), "0", "none is folded on paper");
  assert.ok(await page.locator("details:not([open])").count() > 3, "and afterwards they are folded again");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("[role=slider]:visible, .search:visible, .contents:visible").count(), 0);
  await close();
});

test("a long table finds its rows", async () => {
  const { page, close } = await openFile(browser, htmlOf("run"));
  await page.locator("summary", { hasText: "figures by name" }).click();
  const figures = page.locator("details[open]", { has: page.locator("table.searched") }).first();
  const rows = figures.locator("tbody tr:visible");
  const before = await rows.count();
  await figures.getByRole("searchbox").fill("pacer_lateness");
  const found = await rows.allTextContents();
  assert.ok(found.length > 0 && found.length < before);
  assert.ok(found.every((text) => text.includes("pacer_lateness")));
  assert.equal(await figures.locator("output.found").textContent(), `${found.length} of ${before} rows`);
  await close();
});

// The missing data that the page of an incomplete run names.
for (const [name, wanted] of Object.entries({
  "run-killed": [/did not finish|not finished/], "run-imported": [/imported/i, /not drawn, as/],
  "run-imported-ssp": [/imported/i], "run-old": [/method 1/],
})) {
  test(`${name} says what it lacks`, async () => {
    const { page, close } = await openFile(browser, htmlOf(name));
    const text = await page.textContent("main");
    for (const words of wanted) assert.ok(words.test(text), `the page says ${words}`);
    const missing = await page.locator(".missing").allTextContents();
    for (const sentence of missing) assert.match(sentence, /not drawn, as .+\.$/);
    await close();
  });
}

test("text in files is text", async () => {
  const { page, close } = await openFile(browser, htmlOf("run-hostile"));
  assert.ok((await page.textContent("main")).includes(hostileText));
  assert.equal(await page.locator("main img, main script:not([type='application/json'])").count(), 0);
  await close();
});

test("the policy of a page runs nothing that the page does not hold, and sends nothing away", async () => {
  const { page, faults } = await openFile(browser, htmlOf("run"));
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.body.dataset.ran = 'yes'";
    document.body.append(script);
    const style = document.createElement("p");
    style.setAttribute("style", "color: red");
    document.body.append(style);
    const image = document.createElement("img");
    image.alt = "elsewhere";
    image.src = "https://elsewhere.example/pixel.png";
    document.body.append(image);
  });
  const sent = await page.evaluate(() => fetch("https://elsewhere.example/").then(() => "sent", () => "refused"));
  assert.equal(sent, "refused");
  assert.equal(await page.getAttribute("body", "data-ran"), null);
  for (const directive of ["script-src", "style-src", "img-src", "connect-src"]) {
    assert.ok(faults.some((f) => f.startsWith(`console: policy: ${directive}`)),
      `${directive} refused something: ${faults.join("\n")}`);
  }
  assert.ok(!faults.some((f) => f.startsWith("foreign")), "no request left the browser");
  await page.context().close();
});

test("JS and CSS of a page are 60 KB at most", async () => {
  const html = fs.readFileSync(htmlOf("run"), "utf8");
  const parts = [...html.matchAll(/<style>(.*?)<\/style>|<script type="module">(.*?)<\/script>/gs)]
    .map((m) => m[1] ?? m[2]);
  assert.equal(parts.length, 3);
  const bytes = Buffer.byteLength(parts.join(""));
  assert.ok(bytes <= 60_000, `${bytes} bytes`);
});
