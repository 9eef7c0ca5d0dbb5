// The demo page as one file that loads nothing: its policy names its own script and style by their hashes, and nothing else.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const [target] = process.argv.slice(2);
const { outputFiles } = await build({
  entryPoints: ["demo/main.ts", "demo/page.css"],
  outdir: "unused",
  write: false,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  logLevel: "warning",
});
const text = (kind) => outputFiles.find(({ path }) => path.endsWith(kind)).text.trim().replaceAll("</", "<\\/");
const [script, style] = [text(".js"), text(".css")];
const hash = (content) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`;

let page = readFileSync("demo/page.html", "utf8");
for (const [name, content] of Object.entries({ policy, style, script })) page = page.replace(`{{${name}}}`, () => content);
writeFileSync(target, page);
console.log(`${target}: ${Buffer.byteLength(page)} bytes, one file`);
