// axe-core with the rules that it runs by default, on what a page shows, at two widths, light and dark. SHOTS=FOLDER keeps pictures.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const shots = process.env.SHOTS;

const violations = async (page) => {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
};

/** `look(page, state)` finds nothing to mend, with all details open and nothing to scroll sideways; `told` says so of all looks. */
export function looking(kind) {
  const schemes = kind.name === "chrome" ? ["light", "dark"] : [undefined]; // Firefox is not told
  const states = new Set();
  let looked = 0;
  const look = async (page, state) => {
    states.add(state);
    for (const scheme of schemes) {
      if (scheme) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      for (const [width, height] of [[1280, 900], [390, 844]]) {
        await page.setViewport({ width, height });
        await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
        assert.deepEqual(await violations(page), [], `${state} at ${width}`);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${state} at ${width} scrolls sideways`);
        if (shots) {
          mkdirSync(shots, { recursive: true });
          await page.screenshot({ path: join(shots, `${state.replaceAll(" ", "-")}-${width}-${scheme ?? "firefox"}.png`), fullPage: true });
        }
        looked += 1;
      }
    }
  };
  /** The last page loses its heading: axe-core would find something. */
  const told = async (page) => {
    await page.evaluate(() => document.querySelector("h1").remove());
    assert.ok((await violations(page)).length, "axe-core finds nothing wrong with a page without a heading");
    return `axe-core finds nothing in ${looked} looks at ${states.size} states, at 1280 and 390 pixels${schemes[1] ? ", light and dark" : ""}; and does in a page without its heading`;
  };
  return { look, told };
}
