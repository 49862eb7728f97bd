// `serve DIR --export OUT`, from the disk and without a server.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { axe, launch, open, screenshot, sticksOut, url } from "../lib/browser.js";
import { special } from "../lib/fixtures.js";
import { library, site } from "../lib/places.js";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

test("every link of every page leads to a page, and to its part", async () => {
  // The browser parses each file and returns its links. It does not draw the 500 pages, and gets
  // them without their drawings, which have no links.
  const drawing = /<svg .*?<\/svg>/gs;
  const { page, close } = await open(browser, url(site));
  const index = url(path.join(site, "index.html"));
  const todo = [index];
  const known = new Set(todo);
  const ids = new Map();
  const parts = []; // links to a part of a page
  const dead = [];
  for (let next = todo.shift(); next; next = todo.shift()) {
    const file = fileURLToPath(next);
    if (!fs.existsSync(file)) {
      dead.push(next);
      continue;
    }
    const found = await page.evaluate(([html, base]) => {
      const read = new DOMParser().parseFromString(html, "text/html");
      const all = (selector, attribute) => [...read.querySelectorAll(selector)].map((e) => e.getAttribute(attribute));
      return {
        links: all("[href]", "href").map((href) => new URL(href, base).href),
        loaded: all("[src]", "src"), ids: all("[id]", "id"),
      };
    }, [fs.readFileSync(file, "utf8").replace(drawing, ""), next]);
    assert.deepEqual(found.loaded, [], `${next} loads nothing`);
    ids.set(next, new Set(found.ids));
    assert.equal(ids.get(next).size, found.ids.length, `${next} has no ID twice`);
    for (const link of found.links) {
      const [address, part] = link.split("#");
      if (part) parts.push([next, address, decodeURIComponent(part)]);
      if (!known.has(address)) {
        known.add(address);
        todo.push(address);
      }
    }
  }
  for (const [from, file, part] of parts) if (!ids.get(file)?.has(part)) dead.push(`${from}: ${file}#${part}`);
  assert.deepEqual(dead, [], "dead links");
  const files = fs.readdirSync(site, { recursive: true }).filter((f) => f.endsWith(".html"));
  assert.deepEqual(files.filter((f) => !ids.has(url(path.join(site, f)))), [], "pages that no link leads to");
  for (const page of known) assert.ok(fileURLToPath(page).startsWith(site), `${page} is in the folder`);
  const runs = fs.readdirSync(library).filter((f) => fs.existsSync(path.join(library, f, "run.json")));
  for (const run of runs) assert.ok(ids.has(url(path.join(site, "runs", `${run}.html`))), `${run} has a page`);
  console.log(`${ids.size} pages, ${known.size} addresses, ${parts.length} links to parts`);
  await close();
});

test("pages of the folder, opened from the disk", async () => {
  const { page, close } = await open(browser, url(site));
  await page.goto(url(path.join(site, "index.html")));
  assert.equal(await page.locator("form").count(), 0, "there is nobody who filters and compares");
  await page.getByRole("searchbox").fill("recovery-aggressive");
  const rows = page.locator("tr.run:visible");
  assert.ok((await rows.allTextContents()).every((text) => text.includes("recovery-aggressive")));
  await rows.locator("th a").first().click();
  assert.equal(await page.textContent(".kind"), "Run");
  const slider = page.locator("[role=slider]").first();
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await slider.getAttribute("aria-valuenow"), "1");
  await page.getByRole("link", { name: "All runs" }).click();
  await page.locator("#categories a").first().click();
  assert.equal(await page.textContent(".kind"), "Recorded runs");
  assert.deepEqual(await axe(page), []);
  await page.setViewportSize({ width: 360, height: 740 });
  assert.deepEqual(await sticksOut(page), []);
  await screenshot(page, "export-category-360");
  await close();
});

for (const [name, words] of Object.entries({
  [special.broken]: /run\.json/, [special.newer]: /run\.json/, [special.killed]: /did not finish|not finished/,
})) {
  test(`the page of a run that is ${name} says so`, async () => {
    const { page, close } = await open(browser, url(site));
    const [file] = fs.readdirSync(path.join(site, "runs"))
      .filter((f) => f.includes(`Z-${name}-`) && !f.includes("before"));
    await page.goto(url(path.join(site, "runs", file)));
    assert.match(await page.textContent("main"), words);
    assert.deepEqual(await axe(page), []);
    await screenshot(page, `export-${name}`);
    await close();
  });
}
