// One minified file for a script tag, and a limit on its size: everything, compressed.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const LIMIT = 12_000; // bytes
const outfile = "dist/bipartite-report.iife.js";

await build({
  entryPoints: ["src/index.ts"],
  outfile,
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "bipartiteReport",
  target: "es2022",
  charset: "utf8",
  logLevel: "warning",
});
const size = gzipSync(readFileSync(outfile), { level: 9 }).length;
console.log(`${outfile}: ${size} bytes compressed, at most ${LIMIT}`);
if (size > LIMIT) process.exitCode = 1;
