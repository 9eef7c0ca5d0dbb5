// The draw itself: the vectors of the repository, its law over a million draws, its speed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { withPage } from "./pages.mjs";

const LAWS = JSON.parse(readFileSync(new URL("laws.json", import.meta.url), "utf8"));
const DRAWS = 1_000_000;
// A right law is rejected once in 10⁶ tests: scipy.stats.chi2.isf(1e-6, reports − 1).
const CRITICAL = { 6: 35.888186879672865, 32: 83.64251584700447, 73: 144.02035191949278, 99: 179.4555776842908 };

/** Every vector of every mechanism, as vitest reads them. */
export async function vectors(given) {
  const { outputFiles } = await build({
    entryPoints: [new URL("../test/files.ts", import.meta.url).pathname],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    define: { "import.meta.url": JSON.stringify(new URL("../test/files.ts", import.meta.url).href) },
  });
  const { readCases } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  const cases = readCases();
  return withPage(given, async (page) => {
    const wrong = await page.evaluate((all) => globalThis.tests.vectors(all), cases);
    assert.deepEqual(wrong, []);
    const broken = cases.map((each) => ({ ...each, report: "another report", hash: "another hash" }));
    const found = await page.evaluate((all) => globalThis.tests.vectors(all).length, broken);
    const refused = cases.length - found;
    return `${cases.length} vectors agree (${refused} of them refused, as they promise less than ε-LDP); with other reports none of the rest does`;
  });
}

/** Pearson's test of a million draws, and that it tells the law of another value apart. */
export async function laws(given) {
  return withPage(given, async (page) => {
    const said = [];
    for (const { spec, value, other, reports, chances } of LAWS) {
      const of = (drawn, n) =>
        page.evaluate((...all) => globalThis.tests.chiSquare(...all), spec, drawn, reports, chances, n);
      const right = await of(value, DRAWS);
      const wrong = await of(other, DRAWS / 10);
      const critical = CRITICAL[reports.length];
      assert.ok(right.statistic < critical, `${spec}: ${right.statistic} is above ${critical}`);
      assert.ok(wrong.statistic > critical, `${spec}: the law of another value passes, with ${wrong.statistic}`);
      said.push(`${JSON.parse(spec).mechanism} of ${reports.length} reports: χ² = ${right.statistic.toFixed(1)} < ${critical.toFixed(1)} < ${wrong.statistic.toFixed(0)} of another value`);
    }
    return `${DRAWS} draws each, false alarms 1 in 10⁶; ${said.join("; ")}`;
  });
}

/** Reports a second, one after another. */
export async function speed(given) {
  return withPage(given, async (page) => {
    const said = [];
    for (const { spec, value, reports, chances } of LAWS) {
      const { took } = await page.evaluate((...all) => globalThis.tests.chiSquare(...all), spec, value, reports, chances, 200_000);
      said.push(`${JSON.parse(spec).mechanism} of ${reports.length} reports ${Math.round(200_000 / took) * 1000}`);
    }
    return `reports a second: ${said.join(", ")}`;
  });
}
