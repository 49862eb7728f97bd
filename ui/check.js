// Reports what is missing before anything is installed.

import fs from "node:fs";
import { execFileSync } from "node:child_process";
import { chromiumPath, tool } from "./lib/places.js";

const leastNode = 20;
const faults = [];
if (Number(process.versions.node.split(".")[0]) < leastNode) {
  faults.push(`Node ${process.versions.node} is too old: playwright-core needs Node ${leastNode}. ` +
    "Debian 12 has 18; install a later one, as nodejs.org describes it");
}
if (!fs.existsSync(chromiumPath)) {
  faults.push(`there is no ${chromiumPath}: install Debian's package chromium, or name another with CHROMIUM=PATH`);
}
if (!fs.existsSync(tool)) faults.push(`there is no ${tool}: make tool`);

// Drawings are laid out for the widths of Arial, which Liberation Sans has as well.
const font = () => {
  try {
    return execFileSync("fc-match", ["--format=%{family}", "Arial"]).toString();
  } catch {
    return "none, as there is no fc-match";
  }
};
if (!/Arial|Liberation Sans/.test(font())) {
  faults.push(`the font for Arial is ${font()}, and drawings are laid out for its widths: ` +
    "install Debian's packages fonts-liberation and fontconfig");
}

for (const fault of faults) console.error(`make ui: ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
