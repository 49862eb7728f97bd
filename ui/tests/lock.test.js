// The installed packages and their sources.

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

const read = (name) => fs.readFileSync(new URL(`../${name}`, import.meta.url), "utf8");

test("the lock file names no host, and versions are exact", () => {
  assert.ok(!/:\/\/|"resolved"/.test(read("package-lock.json")),
    "run npm install in ui/, where .npmrc leaves hosts out");
  const { private: own, dependencies, devDependencies } = JSON.parse(read("package.json"));
  assert.equal(own, true);
  assert.equal(dependencies, undefined);
  for (const [name, version] of Object.entries(devDependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name);
});
