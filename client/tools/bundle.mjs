// One minified file for a script tag with its types, and a limit on its size: everything, compressed.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const LIMIT = 12_000; // bytes
const names = Object.keys(await import("../dist/index.js"));
const outfile = "dist/bipartite-report.iife.js";

await build({
  stdin: { contents: `import { ${names} } from "./src/index.ts"; globalThis.bipartiteReport = { ${names} };`, resolveDir: "." },
  outfile,
  bundle: true,
  minify: true,
  banner: { js: '"use strict";' },
  format: "iife",
  target: "es2022",
  charset: "utf8",
  logLevel: "warning",
});
writeFileSync("dist/bipartite-report.iife.d.ts", 'declare global {\n  var bipartiteReport: typeof import("./index.js");\n}\nexport {};\n');
const size = gzipSync(readFileSync(outfile), { level: 9 }).length;
console.log(`${outfile}: ${size} bytes compressed, at most ${LIMIT}`);
if (size > LIMIT) process.exitCode = 1;
