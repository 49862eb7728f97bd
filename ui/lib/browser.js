// A real browser, and what no page may do in it.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { chromiumPath, screenshots } from "./places.js";

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function launch() {
  const args = ["--disable-gpu", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])];
  return chromium.launch({ executablePath: chromiumPath, args, headless: true });
}

export const url = (file) => pathToFileURL(file).href;

// open returns a page of its own whose faults are kept: errors on the console, exceptions, what
// the policy refused, and requests to anywhere but `home`, which are not let through. A page from a
// file may load nothing at all but files below its folder.
export async function open(browser, home, options = {}) {
  const usual = { viewport: { width: 1200, height: 900 }, colorScheme: "light" };
  const context = await browser.newContext({ ...usual, ...options });
  const faults = [];
  await context.route("**/*", (route) => {
    const address = route.request().url();
    if (address === home || address.startsWith(home.endsWith("/") ? home : `${home}/`)) return route.continue();
    faults.push(`foreign request: ${address}`);
    return route.abort();
  });
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`exception: ${error.message}`));
  page.on("requestfailed", (request) => {
    if (request.failure()?.errorText !== "net::ERR_ABORTED") faults.push(`failed: ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  return {
    page,
    faults,
    // close ends the page; what it did that it may not do fails the test.
    async close() {
      await context.close();
      assert.deepEqual(faults, [], "what the page did");
    },
  };
}

// openFile opens a page from the disk.
export async function openFile(browser, file, options) {
  const opened = await open(browser, url(path.dirname(file)), options);
  await opened.page.goto(url(file));
  return opened;
}

// axe returns what axe finds, in a line each; of the rules named, or of all. The inside of a drawing
// is left out: for those who do not see it, it is one image.
export async function axe(page, ...rules) {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axeSource);
  const found = await page.evaluate((only) => globalThis.axe.run({ exclude: ["svg.chart > g"] }, {
    resultTypes: ["violations"], ...(only.length > 0 && { runOnly: only }),
  }), rules);
  return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}`));
}

// screenshot keeps a picture for people to look at, if they asked for it. No test reads one.
export async function screenshot(page, name) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
}

// sticksOut lists what makes the page wider than the window.
export function sticksOut(page) {
  return page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const wide = [...document.querySelectorAll("body *")].filter((e) => {
      const box = e.getBoundingClientRect();
      return box.right > root.clientWidth + 0.5 && !e.closest(".scroll, svg");
    });
    return [`the page is ${root.scrollWidth} px wide`, ...wide.map((e) => `${e.tagName} ${e.className} ${e.id}`)];
  });
}

// overlaps lists words of visible drawings that lie over others, or beyond the drawing.
export function overlaps(page) {
  return page.evaluate(() => {
    const faults = [];
    for (const svg of document.querySelectorAll("svg.chart")) {
      const frame = svg.getBoundingClientRect();
      if (frame.width === 0) continue;
      const name = svg.closest("figure")?.id ?? "drawing";
      const slack = 1.5; // glyphs of fonts that stand in for each other differ by as much
      const texts = [...svg.querySelectorAll("text")].map((text) => {
        // Words at a slant are compared as they would lie if the picture was turned by it.
        const angle = Number(text.getAttribute("transform")?.match(/rotate\((\S+)/)?.[1] ?? 0);
        const turn = (-angle * Math.PI) / 180;
        const [x, y] = [Number(text.getAttribute("x")), Number(text.getAttribute("y"))];
        const box = text.getBBox();
        const left = x * Math.cos(turn) - y * Math.sin(turn) + box.x - x;
        const top = x * Math.sin(turn) + y * Math.cos(turn) + box.y - y;
        return {
          words: text.firstChild.nodeType === Node.TEXT_NODE ? text.textContent : text.lastChild.textContent, angle,
          seen: text.getBoundingClientRect(), left, top, right: left + box.width, bottom: top + box.height,
        };
      });
      for (const { words, seen } of texts) {
        if (seen.left < frame.left - slack || seen.right > frame.right + slack ||
            seen.top < frame.top - slack || seen.bottom > frame.bottom + slack) {
          faults.push(`${name}: "${words}" is cut`);
        }
      }
      texts.forEach((a, i) => {
        for (const b of texts.slice(i + 1).filter((other) => other.angle === a.angle)) {
          const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          const letters = 4; // by which the boxes of two lines may share their height
          if (wide > slack && high > letters) faults.push(`${name}: "${a.words}" lies over "${b.words}"`);
        }
      });
    }
    return faults;
  });
}
