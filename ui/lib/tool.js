// Runs the tool.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { tool, root } from "./places.js";

// print runs a command of the tool to its end and returns its standard output.
export async function print(...args) {
  const child = spawn(tool, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const out = [];
  const errors = [];
  child.stdout.on("data", (d) => out.push(d));
  child.stderr.on("data", (d) => errors.push(d));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`kafka-bench ${args.join(" ")} ended with ${code}: ${Buffer.concat(errors)}`);
  return Buffer.concat(out).toString();
}

// start starts a command without waiting for it. `line(prefix)` waits for a line with this prefix
// and returns its rest; `ended` is the exit code, or the signal that ended it.
export function start(...args) {
  const child = spawn(tool, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  const line = (prefix) => new Promise((found, failed) => {
    const look = () => {
      const lines = text.split("\n").slice(0, -1);
      const hit = lines.find((l) => l.startsWith(prefix));
      if (hit !== undefined) found(hit.slice(prefix.length));
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    ended.then((how) => failed(new Error(`kafka-bench ${args.join(" ")} ended (${how}) without "${prefix}": ${text}`)));
    look();
  });
  for (const stream of [child.stdout, child.stderr]) stream.prependListener("data", (d) => { text += d; });
  return { child, pid: child.pid, line, ended, text: () => text };
}
