// A real browser, with checks of what no page may do.

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

// open returns a new page and its faults: errors on the console, exceptions, what the policy
// refused, and requests to other addresses than `home`, which are blocked. A page from a file may
// load only files below its folder.
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
    // close ends the page, and fails the test if it has faults.
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

// axe returns axe's findings, one per line, of the named rules, or of all. It skips the inside of
// a drawing, which is one image for people who cannot see it.
export async function axe(page, ...rules) {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axeSource);
  const found = await page.evaluate((only) => globalThis.axe.run({ exclude: ["svg.chart > g"] }, {
    resultTypes: ["violations"], ...(only.length > 0 && { runOnly: only }),
  }), rules);
  return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}`));
}

// screenshot saves a picture for people, if SCREENSHOTS is set. No test reads it.
export async function screenshot(page, name) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
}

// sticksOut lists the elements that make the page wider than the window.
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

// overlaps lists words of visible drawings that overlap others, or exceed the drawing.
export function overlaps(page) {
  return page.evaluate(() => {
    const faults = [];
    for (const svg of document.querySelectorAll("svg.chart")) {
      const frame = svg.getBoundingClientRect();
      if (frame.width === 0) continue;
      const name = svg.closest("figure")?.id ?? "drawing";
      const slack = 1.5; // the difference between glyphs of replacement fonts
      const texts = [...svg.querySelectorAll("text")].map((text) => {
        // Slanted words are compared after a rotation of the picture.
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
          const letters = 4; // by which the boxes of two lines may overlap in height
          if (wide > slack && high > letters) faults.push(`${name}: "${a.words}" lies over "${b.words}"`);
        }
      });
    }
    return faults;
  });
}
