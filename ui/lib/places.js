// Paths. Everything that the tests make is below build/ui.

import { fileURLToPath } from "node:url";
import path from "node:path";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const tool = path.join(root, "bin", "kafka-bench");
export const chromiumPath = process.env.CHROMIUM ?? "/usr/bin/chromium";

export const made = path.join(root, "build", "ui");
export const library = path.join(made, "library"); // all runs of results/, and those that setup.js makes
export const pages = path.join(made, "pages"); // the output of `--format html` and `--format json`
export const site = path.join(made, "site"); // the export of the library
export const screenshots = path.join(made, "screenshots");
