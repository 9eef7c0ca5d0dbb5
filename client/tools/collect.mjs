// What the collector's pages inline: each file of collect/ that a page needs, minified, beside the Python that sends it.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { build } from "esbuild";

const [target] = process.argv.slice(2);
const { outputFiles } = await build({
  entryPoints: ["collect/participant.ts", "collect/base.css", "collect/participant.css"],
  outdir: "unused",
  write: false,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  logLevel: "warning",
});
mkdirSync(target, { recursive: true });
for (const { path, text } of outputFiles) {
  // Inside <script> or <style> nothing may look like the end of it. In a string "<\/" is "</", and nowhere else does "</" stand.
  const content = text.trim().replaceAll("</", "<\\/");
  writeFileSync(`${target}/${basename(path)}`, content);
  console.log(`${basename(path)}: ${Buffer.byteLength(content)} bytes`);
}
