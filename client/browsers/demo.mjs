// The demo page: it loads nothing, works by keyboard, and axe-core finds nothing to mend.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { withBrowser } from "./pages.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const shown = (page, selector) => page.$eval(selector, (element) => element.textContent);

function withDemo({ kind, server }, work) {
  return withBrowser({ kind }, async (running) => {
    const page = await running.newPage();
    const requests = [];
    const troubles = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => troubles.push(error.message));
    page.on("console", (message) => troubles.push(message.text()));
    await page.goto(`${server.origin}/demo`);
    await page.waitForFunction(() => document.querySelector("#chart svg"));
    const said = await work(page, { requests, troubles });
    assert.deepEqual(troubles, []);
    return said;
  });
}

export function loadsNothing(given) {
  return withDemo(given, async (page, { requests, troubles }) => {
    await page.click("#agree");
    await page.waitForFunction(() => document.querySelector("#outcome pre"));
    const loaded = requests.filter((url) => url !== "data:,"); // Firefox counts the empty icon
    assert.deepEqual(loaded, [`${given.server.origin}/demo`]);
    const fetched = await page.evaluate(() => fetch("/demo").then(() => "loaded", () => "refused"));
    assert.equal(fetched, "refused");
    troubles.length = 0; // the browser says on its console that the page's policy forbids it
    return "one request, for the page itself; its policy refuses another";
  });
}

/** From the top of the page with Tab, arrows and Enter alone. */
export function keyboard(given) {
  return withDemo(given, async (page) => {
    const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute("name"));
    const tabTo = async (wanted) => {
      for (let i = 0; i < 20 && (await focused()) !== wanted; i += 1) await page.keyboard.press("Tab");
      assert.equal(await focused(), wanted);
    };
    await tabTo("age-value");
    await page.keyboard.press("ArrowRight");
    assert.equal(await shown(page, "#age-said"), "41");
    await tabTo("epsilon");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.querySelector("#words").textContent.includes("7.39 times"));
    await page.waitForFunction(() => document.querySelector("#shares").textContent.includes("your answer, 41"));
    await tabTo("agree");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("#outcome pre"));
    const first = await shown(page, "#outcome pre");
    assert.equal(JSON.parse(first).question, "age");
    await page.reload();
    await page.waitForFunction(() => document.querySelector("#outcome pre"));
    assert.equal(await shown(page, "#outcome pre"), first);
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => !document.querySelector("#town").hidden);
    await page.select("#town-value", "Lisbon");
    await page.waitForFunction(() => document.querySelector("#shares").textContent.includes("Lisbon"));
    return "a question, an answer, ε and a report by Tab, arrows and Enter; the report is there after a reload; another question by arrows";
  });
}

/** Also if the browser's data was cleared meanwhile, as by another tab. */
export function forgets(given) {
  return withDemo(given, async (page) => {
    const agree = async () => {
      await page.click("#agree");
      await page.waitForFunction(() => document.querySelector("#outcome pre, #outcome .error"));
      return JSON.parse(await shown(page, "#outcome pre")).key;
    };
    const keys = [];
    for (const cleared of [false, true]) {
      keys.push(await agree());
      if (cleared) await page.evaluate(() => new Promise((done) => (indexedDB.deleteDatabase("bipartite-report").onsuccess = () => done())));
      await page.click("#account button");
      await page.waitForFunction(() => !document.querySelector("#account button"), { timeout: 5000 });
    }
    keys.push(await agree());
    assert.equal(new Set(keys).size, 3);
    return "what the page has kept can be forgotten, twice, the second time after the browser's data was cleared: then there is a new report";
  });
}

/** axe-core with all its rules, at two widths, light and dark, for every question, before and after a draw. */
export function accessible(given) {
  return withDemo(given, async (page) => {
    let looked = 0;
    let rules = 0;
    await page.evaluate(AXE);
    const schemes = given.kind.name === "chrome" ? ["light", "dark"] : [undefined]; // Firefox is not told
    for (const [scheme, width, height] of schemes.flatMap((each) => [[each, 1280, 900], [each, 390, 844]])) {
      if (scheme) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.setViewport({ width, height });
      for (const name of ["age", "way", "town"]) {
        await page.click(`input[name=question][value=${name}]`);
        for (const step of ["asked", "refuse", "agree"]) {
          if (step !== "asked") await page.click(`#${step}`);
          await page.waitForFunction(() => document.querySelector("#chart svg"));
          await new Promise((resolve) => setTimeout(resolve, 300));
          const { violations, passes } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
          assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), [], `${name} at ${width}, ${step}`);
          const scrolls = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          assert.equal(scrolls, 0, `${name} at ${width} scrolls sideways`);
          looked += 1;
          rules = Math.max(rules, passes.length);
        }
      }
    }
    await page.evaluate(() => document.querySelector("h1").remove());
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    assert.ok(violations.length, "axe-core finds nothing wrong with a page without a heading");
    return `axe-core finds nothing in ${looked} states at 1280 and 390 pixels, ${schemes[1] ? "light and dark" : "light"} (${rules} rules passed), and does in a page without its heading`;
  });
}
