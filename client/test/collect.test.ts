import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("..", import.meta.url);

test("the committed script and styles of the collector's pages are what `make client-collect` makes, and load nothing", () => {
  const made = mkdtempSync(join(tmpdir(), "collect-"));
  execFileSync("node", ["tools/collect.mjs", made], { cwd: root });
  const names = readdirSync(made);
  expect(names.sort()).toEqual(["base.css", "participant.css", "participant.js"]);
  for (const name of names) {
    const text = readFileSync(join(made, name), "utf8");
    const committed = readFileSync(new URL(`../src/bipartite/collect/static/${name}`, root), "utf8");
    expect(committed === text, `${name}: run make client-collect`).toBe(true);
    expect(text).not.toMatch(/https?:|<\/|<!--|@import|url\(|innerHTML|\beval\b/);
  }
});
