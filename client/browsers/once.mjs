// One report or a clear error, whatever happens around the draw.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { openPage, withBrowser, withPage } from "./pages.mjs";

const { spec } = JSON.parse(readFileSync(new URL("laws.json", import.meta.url), "utf8"))[0];
const ask = (page, question, value = 40, ...most) =>
  page.evaluate((...all) => globalThis.tests.ask(...all), question, spec, value, ...most);
const kept = (page, question) => page.evaluate((name) => globalThis.tests.kept(name), question);
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A report was handed out, not an error. */
function isReport(body, question) {
  assert.match(body, /^\{"v":1,/, body);
  assert.equal(JSON.parse(body).question, question);
  return body;
}

async function bothAtOnce(pages, many) {
  for (let i = 0; i < many; i += 1) {
    const question = `both ${i}`;
    const [one, other] = await Promise.all(pages.map((page, n) => ask(page, question, n ? 80 : 20)));
    assert.equal(isReport(one, question), other);
  }
  const { drawn, total } = await pages[0].evaluate(() => globalThis.tests.account());
  assert.equal(drawn.length, many);
  assert.equal(total, String(many));
  return `${many} questions asked in two tabs at the same moment, with different answers: one report each, ε = ${total} on the account`;
}

export function tabs(given) {
  return withBrowser({ kind: given.kind }, async (running) => {
    const pages = [await openPage(running, given), await openPage(running, given)];
    const said = await bothAtOnce(pages, 40);
    await pages[0].goto(`${given.server.origin}/demo`);
    await pages[0].evaluate(() => void setTimeout(() => history.back()));
    await pages[0].waitForFunction(() => "tests" in globalThis);
    assert.equal(await ask(pages[0], "both 0", 90), await kept(pages[1], "both 0"));
    return `${said}; the same after the back button`;
  });
}

/** Two tabs that ask other questions at the same moment cannot spend more than the study may. */
export function capped(given) {
  return withBrowser({ kind: given.kind }, async (running) => {
    const pages = [await openPage(running, given), await openPage(running, given)];
    const asked = pages.flatMap((page, n) => Array.from({ length: 20 }, (_, i) => ask(page, `capped ${n} ${i}`, 40, "7")));
    const outcomes = await Promise.all(asked);
    const refused = outcomes.filter((outcome) => outcome.startsWith("budget: "));
    assert.equal(refused.length, 33);
    const { drawn, total } = await pages[0].evaluate(() => globalThis.tests.account());
    assert.deepEqual([drawn.length, total], [7, "7"]);
    return `40 questions at the same moment in two tabs, of a study that may spend ε = 7: 7 reports, and 33 times “${refused[0]}”`;
  });
}

export function withoutLocks(given) {
  return withBrowser({ kind: given.kind }, async (running) => {
    const pages = [await openPage(running, given), await openPage(running, given)];
    for (const page of pages) {
      const had = await page.evaluate(() => {
        const locks = typeof navigator.locks;
        Object.defineProperty(navigator, "locks", { value: undefined });
        return locks;
      });
      assert.equal(had, "object");
    }
    return `without Web Locks ${await bothAtOnce(pages, 40)}`;
  });
}

/** How many questions had two different reports handed out, when the page reloads itself three times in mid-draw. */
async function doubles(page, { server }, how, many) {
  let twice = 0;
  let interrupted = 0;
  for (let i = 0; i < many; i += 1) {
    const question = `${how} ${i}`;
    const delays = [i % 20, (i * 7) % 30, (i * 13) % 40];
    server.handed.delete(question);
    const wanted = encodeURIComponent(JSON.stringify([question, spec, 18 + i, delays, how]));
    await page.goto(`${server.origin}/page?reloading=${wanted}`).catch(() => {}); // the page goes away on its own
    await page.waitForFunction(() => document.title === "done", { polling: 20 }).catch(async () => {
      await page.waitForFunction(() => document.title === "done", { polling: 20 });
    });
    while (!server.handed.has(question)) await pause(5);
    const bodies = server.handed.get(question);
    interrupted += bodies.length < delays.length + 1;
    twice += new Set(bodies).size > 1;
  }
  return { twice, interrupted };
}

export function reloads(given) {
  return withPage(given, async (page) => {
    const many = 40;
    const ours = await doubles(page, given, "ask", many);
    assert.equal(ours.twice, 0);
    const others = await doubles(page, given, "careless", 10);
    assert.ok(others.twice > 0, "the test finds nothing wrong with a page that hands out before it stores");
    return `${many} questions, three reloads within 40 ms each (${ours.interrupted} times before a report was out): none had two reports; a page that hands out before it stores had two for ${others.twice} of 10`;
  });
}

/** The browser is killed at some moment around the draw, and started again on the same profile. */
export async function killed(given) {
  const rounds = 8;
  let before = 0;
  for (let i = 0; i < rounds; i += 1) {
    const question = `killed ${i}`;
    given.server.handed.delete(question);
    const running = await given.kind.open({ home: given.home });
    const page = await openPage(running, given);
    const wanted = encodeURIComponent(JSON.stringify([question, spec, 20, [], "ask"]));
    await page.evaluate((url) => void setTimeout(() => (location.href = url)), `/page?reloading=${wanted}`);
    await pause(100 * i);
    const ended = new Promise((resolve) => running.process().once("exit", resolve));
    running.process().kill("SIGKILL");
    await ended;
    await pause(300);
    const early = given.server.handed.get(question) ?? [];
    before += early.length;
    const body = await withBrowser({ kind: given.kind, home: given.home }, async (again) =>
      ask(await openPage(again, given), question, 80),
    );
    assert.equal(new Set([...early, isReport(body, question)]).size, 1);
  }
  assert.ok(before > 0, "no report was out before the browser was killed");
  return `${rounds} kills (SIGKILL) around a draw, ${before} of them after the report was out: after the restart the same report, or the first one`;
}

export async function privateMode(given) {
  const chrome = given.kind.name === "chrome";
  const privately = { kind: given.kind, home: given.home, privately: true };
  const bodies = [];
  let said = "";
  if (!chrome) {
    const refused = await withBrowser(privately, async (running) => ask(await openPage(running, given), "private"));
    assert.match(refused, /^privacy-control: /);
    said = `private windows of Firefox turn Global Privacy Control on: “${refused}”; with it off `;
  }
  const off = { "privacy.globalprivacycontrol.pbmode.enabled": false };
  for (let session = 0; session < 2; session += 1) {
    await withBrowser({ ...privately, preferences: off }, async (running) => {
      const window = chrome ? await running.createBrowserContext() : running; // off the record
      const pages = [await openPage(window, given), await openPage(window, given)];
      const body = isReport(await ask(pages[0], "private", 20), "private");
      assert.equal(await ask(pages[1], "private", 80), body);
      await pages[0].reload();
      assert.equal(await ask(pages[0], "private", 80), body);
      bodies.push(body);
    });
  }
  assert.notEqual(bodies[0], bodies[1]);
  return `${said}one report for two tabs and a reload; the next private session has forgotten it and draws again, as after cleared storage`;
}

/** Fill the origin's storage to the last bytes, by chunks that get smaller. */
const fill = (page) =>
  page.evaluate(async () => {
    const put = (size) =>
      new Promise((resolve) => {
        const opening = indexedDB.open("filler");
        opening.onupgradeneeded = () => opening.result.createObjectStore("bytes", { autoIncrement: true });
        opening.onerror = () => resolve(false);
        opening.onsuccess = () => {
          const end = (written) => (opening.result.close(), resolve(written));
          try {
            const transaction = opening.result.transaction("bytes", "readwrite");
            transaction.oncomplete = () => end(true);
            transaction.onabort = () => end(false);
            transaction.objectStore("bytes").add(crypto.getRandomValues(new Uint8Array(size)));
          } catch {
            end(false);
          }
        };
      });
    let written = 0;
    for (let size = 65536; size >= 64; size /= 2) while (await put(size)) written += size;
    return written;
  });

const empty = (page) =>
  page.evaluate(() => new Promise((resolve, reject) => {
    const deleting = indexedDB.deleteDatabase("filler");
    deleting.onsuccess = () => resolve();
    deleting.onerror = () => reject(deleting.error);
  }));

export function fullStorage(given) {
  const limit = { "dom.quotaManager.temporaryStorage.fixedLimit": 2048 }; // KiB
  return withBrowser({ kind: given.kind, preferences: limit }, async (running) => {
    const page = await openPage(running, given);
    if (given.kind.name === "chrome") {
      const session = await page.createCDPSession();
      await session.send("Storage.overrideQuotaForOrigin", { origin: given.server.origin, quotaSize: 2 ** 21 });
    }
    const before = isReport(await ask(page, "before"), "before");
    const written = await fill(page);
    const refused = [];
    for (let i = 0; i < 200; i += 1) {
      const said = await ask(page, `full ${i}`);
      if (said.startsWith("storage:")) refused.push(said);
      else isReport(said, `full ${i}`);
    }
    assert.ok(refused.length > 0, "storage never was full");
    for (const each of refused) assert.match(each, /kept in this browser \(QuotaExceededError\), so no report/);
    assert.equal(await ask(page, "before", 80), before);
    await empty(page);
    for (let i = 0; i < 200; i += 20) isReport(await ask(page, `full ${i}`), `full ${i}`);
    return `${written} bytes fill it; of 200 questions ${refused.length} end in “${refused[0]}”; earlier reports stay, and with room again every question has one`;
  });
}

export function noStorage(given) {
  return withPage(given, async (page) => {
    await page.evaluate(() => {
      const frame = document.createElement("iframe");
      frame.sandbox = "allow-scripts"; // an origin of its own, which may store nothing
      frame.src = "/page";
      document.body.append(frame);
      return new Promise((resolve) => (frame.onload = resolve));
    });
    const frame = page.frames().find((each) => each !== page.mainFrame());
    const sandboxed = await ask(frame, "sandboxed");
    assert.match(sandboxed, /^storage: nothing can be kept in this browser \(SecurityError\)/);
    await page.evaluate(() => Object.defineProperty(globalThis, "indexedDB", { value: undefined }));
    const missing = await ask(page, "missing");
    assert.match(missing, /^storage: nothing can be kept in this browser \(it has no IndexedDB\)/);
    return `“${sandboxed}”; “${missing}”`;
  });
}

export function privacyControl(given) {
  const on = { "privacy.globalprivacycontrol.enabled": true, "privacy.globalprivacycontrol.functionality.enabled": true };
  return withBrowser({ kind: given.kind, preferences: on }, async (running) => {
    const page = await running.newPage();
    if (given.kind.name === "chrome") {
      await page.evaluateOnNewDocument(() => Object.defineProperty(navigator, "globalPrivacyControl", { value: true })); // Chromium has none
    }
    await page.goto(`${given.server.origin}/page`);
    const said = await ask(page, "controlled");
    assert.match(said, /^privacy-control: /);
    assert.equal(await kept(page, "controlled"), "nothing is kept");
    await page.evaluate(() => globalThis.tests.refuse("refused"));
    await page.reload();
    const no = await ask(page, "refused");
    assert.match(no, /^refused: /);
    return `“${said}”; after a no and a reload “${no}”`;
  });
}
