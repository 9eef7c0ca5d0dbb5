// Reads values, one a line (JSON, or a word as it is), and answers each with a line: its report in JSON. For
// `bipartite audit --command "node client/bin/draw.mjs SPEC.json" …`; needs `npm run build`.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { draw, parseSpec } from "../dist/index.js";

const [file] = process.argv.slice(2);
if (!file) throw new Error("usage: node draw.mjs SPEC.json < values");
const spec = parseSpec(readFileSync(file, "utf8"));
for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${JSON.stringify(draw(spec, read(line)))}\n`);

function read(line) {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
