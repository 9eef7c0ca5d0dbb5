import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const run = (spec: string, input: string): string[] =>
  execFileSync(process.execPath, [path("bin/draw.mjs"), path(`../tests/golden/${spec}`)], { input, encoding: "utf8" }).trim().split("\n");

// `make client` builds before it tests.
test.skipIf(!existsSync(path("dist/index.js")))("the command for audits answers each line with one", () => {
  const reports = run("v1/ages-9e125d224edc.json", "18\n90\n".repeat(50)).map(Number);
  expect(reports).toHaveLength(100);
  for (const report of reports) expect(report >= 18 && report <= 90 && Number.isInteger(report)).toBe(true);
  expect(["yes", "no", "no answer"]).toContain(JSON.parse(run("v2/custom_words-d1a1c71671d4.json", "tea\n")[0] as string));
});
