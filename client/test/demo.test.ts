import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("..", import.meta.url);

test("the committed demo page is what `make client-demo` makes, and loads nothing", () => {
  const made = join(mkdtempSync(join(tmpdir(), "demo-")), "try.html");
  execFileSync("node", ["tools/demo.mjs", made], { cwd: root });
  const page = readFileSync(made, "utf8");
  expect(readFileSync(new URL("../docs/_static/try.html", root), "utf8") === page, "run make client-demo").toBe(true);
  expect(page).toContain("default-src 'none'");
  expect(page.replaceAll("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|\ssrc=|href="(?!data:,")/);
});
