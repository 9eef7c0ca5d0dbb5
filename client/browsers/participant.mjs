// The participant's page: what leaves it, what it remembers, and how it is used.
import assert from "node:assert/strict";
import { collector } from "./collector.mjs";
import { looking } from "./looking.mjs";
import { withBrowser } from "./pages.mjs";

const shown = (page, selector) => page.$eval(selector, (element) => element.textContent);
const isShown = (page, selector) => page.$eval(selector, (element) => element.getClientRects().length > 0);
const see = (page, selector) => page.waitForFunction((wanted) => document.querySelector(wanted)?.getClientRects().length, {}, selector);
const say = (page, words) => page.waitForFunction((wanted) => document.querySelector("main").innerText.includes(wanted), { polling: 30 }, words); // in a tab behind another nothing is painted

/** The page before a collector of its own; `before` runs in the page ahead of its script. */
function withPage({ kind, preferences, before, ...options }, work) {
  return withBrowser({ kind, preferences }, async (running) => {
    const server = await collector(options);
    try {
      const troubles = [];
      const open = async () => {
        const page = await running.newPage();
        page.on("pageerror", (error) => troubles.push(error.message));
        if (before) await page.evaluateOnNewDocument(before);
        await page.goto(server.origin);
        return page;
      };
      const said = await work(await open(), server, open);
      assert.deepEqual(troubles, []);
      return said;
    } finally {
      await server.close();
    }
  });
}

/** Answers all, in the order of the study; an age of the wrong size for what is not of the domain. */
async function fill(page, age = "40") {
  await see(page, "#ask");
  await page.type("input[type=number]", age);
  await page.click("#form > fieldset:nth-of-type(2) .choice:nth-of-type(2) input");
  await page.select("select", "1");
  await page.click("#form fieldset fieldset .choice:nth-of-type(3) input");
}

const agree = async (page) => {
  await page.$eval("#sending", (element) => (element.textContent = "")); // what was said of an earlier sending
  await page.click("#agree");
  await say(page, "Your reports have arrived");
};

export function participates(given) {
  return withPage(given, async (page, server) => {
    assert.match(await shown(page, "#odds-text"), /at most 20\.1 times as likely .*at most 96\s% sure/);
    await fill(page);
    assert.deepEqual(server.posts(), []);
    await agree(page);
    const [post, ...more] = server.posts();
    assert.deepEqual(more, []);
    assert.equal(await shown(page, "#bytes"), post.body);
    assert.equal(post.url, "/reports");
    for (const name of ["cookie", "referer"]) assert.equal(post.headers[name], undefined);
    const envelopes = JSON.parse(post.body);
    assert.deepEqual(envelopes.map(({ study, question }) => `${study} ${question}`), ["readers age", "readers person", "readers section"]);
    for (const envelope of envelopes) assert.deepEqual(Object.keys(envelope), ["v", "study", "question", "spec", "report", "key"]);
    assert.match(await shown(page, "#spent"), /ε\s=\s3 of 3/);
    assert.equal(await isShown(page, "#ask"), false);
    assert.equal(await page.evaluate(() => document.activeElement.id), "h-answered");

    await page.reload();
    await say(page, "Your reports have arrived");
    assert.deepEqual(server.posts().map(({ body }) => body), [post.body, post.body]);
    assert.equal(await isShown(page, "#ask"), false);
    const paths = new Set(server.seen.map(({ method, url }) => `${method} ${url}`));
    assert.deepEqual([...paths], ["GET /", "POST /reports"]);
    const refused = await page.evaluate(() => fetch("https://collector.example/").then(() => "loaded", () => "refused"));
    assert.equal(refused, "refused");
    return "three questions, consent, one POST with exactly the bytes that are shown; a reload sends the same; nothing but the page and /reports is asked for";
  });
}

/** Two tabs with other answers, both of which agree at the same moment. */
export function twoTabs(given) {
  return withPage(given, async (page, server, open) => {
    const pages = [page, await open()];
    for (const [i, each] of pages.entries()) {
      await each.bringToFront();
      await fill(each, i ? "80" : "20");
    }
    await Promise.all(pages.map((each) => each.evaluate(() => document.querySelector("#agree").click())));
    for (const each of pages) await say(each, "Your reports have arrived");
    const bodies = server.posts().map(({ body }) => body);
    assert.equal(bodies.length, 2);
    const all = bodies.flatMap((body) => JSON.parse(body)).map((envelope) => JSON.stringify(envelope));
    assert.equal(new Set(all).size, 3);
    return "two tabs that agree at the same moment, with different answers: three reports in all";
  });
}

export function retries(given) {
  return withPage({ ...given, answers: [503, 429, 500] }, async (page, server) => {
    await fill(page);
    await page.click("#agree");
    for (const words of ["busy or being repaired", "from your network within the hour", "HTTP 500"]) {
      await say(page, words);
      await page.click("#again");
    }
    await say(page, "Your reports have arrived");
    const bodies = server.posts().map(({ body }) => body);
    assert.deepEqual([bodies.length, new Set(bodies).size], [4, 1]);
    await server.close();
    await page.evaluate(() => document.querySelector("#again").click());
    await say(page, "could not be reached");
    return "503, 429, 500: each said in words, and “Try again” sends the same bytes; then nobody is there: said, too";
  });
}

/** Chromium keeps 64 KiB in flight, and counts a request whose answer nobody has read. */
export function sendsOften(given) {
  return withPage(given, async (page, server) => {
    await fill(page);
    await agree(page);
    const times = 200;
    const outcome = await page.evaluate(async (many) => {
      const said = document.querySelector("#sending");
      for (let i = 0; i < many; i += 1) {
        document.querySelector("#again").click();
        while (said.textContent === "Sending …") await new Promise((resolve) => setTimeout(resolve));
        if (!said.textContent.includes("arrived")) break;
      }
      return said.textContent;
    }, times);
    assert.match(outcome, /have arrived/);
    const bodies = server.posts().map(({ body }) => body);
    assert.deepEqual([bodies.length, new Set(bodies).size], [times + 1, 1]);
    return `a page that stays open sends ${bodies.length} times ${bodies[0].length} bytes, and all arrive`;
  });
}

export function ended(given) {
  return withPage({ ...given, answers: [410] }, async (page, server) => {
    await fill(page);
    await page.click("#agree");
    await say(page, "The study has ended");
    assert.equal(await isShown(page, "#again"), false);
    assert.equal(server.posts().length, 1);
    await withPage({ ...given, page: "closed" }, async (closed, other) => {
      await say(closed, "This study has ended");
      assert.equal(await closed.$("script, form, button, input"), null);
      assert.deepEqual(other.posts(), []);
    });
    return "a study that ends while the page is open is said to have ended; its own page has no script, and nothing to answer";
  });
}

/** An input for every kind of domain, whose answers the client draws from. */
export function everyDomain(given) {
  return withPage({ ...given, study: "domains.toml" }, async (page, server) => {
    await see(page, "#ask");
    const inputs = await page.$$eval("#form > fieldset", (all) => all.map((each) => ["[type=number]", "[type=radio]", "option"].map((kind) => each.querySelectorAll(kind).length)));
    assert.deepEqual(inputs, [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 7, 0], [0, 0, 13], [0, 3, 0], [1, 2, 0]]);
    for (const number of await page.$$("[type=number]")) await number.type(String(await number.evaluate(({ max }) => max)));
    for (const select of await page.$$("select")) await select.select(String(await select.evaluate(({ options }) => options.length - 2)));
    for (const choice of await page.$$(".choice:last-of-type input")) await choice.click();
    await agree(page);
    const reports = JSON.parse(server.posts()[0].body).map(({ question, report }) => [question, report]);
    assert.deepEqual(reports.map(([question]) => question), ["change", "day", "height", "hour", "month", "some", "town"]);
    assert.deepEqual(Object.keys(Object.fromEntries(reports).some).length, 1);
    for (const width of [1280, 390]) {
      await page.setViewport({ width, height: 844 });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `scrolls sideways at ${width}`);
    }
    return `${reports.length} questions of every kind of domain: numbers, choices, lists, a record of which one part is sent`;
  });
}

/** What is not of the domain, or missing, leaves the page as it was. */
export function outside(given) {
  return withPage(given, async (page, server) => {
    await fill(page, "17");
    for (const age of ["17", "91", "1e9", "40.5", "-40", ""]) {
      await page.$eval("input[type=number]", (input, value) => (input.value = value), age);
      await page.click("#agree");
      assert.equal(await page.evaluate(() => document.activeElement.type), "number");
    }
    // A page whose inputs were tampered with: the client refuses, and nothing is drawn for the other questions either.
    await page.$eval("input[type=number]", (input) => {
      input.removeAttribute("max");
      input.value = "91";
    });
    await page.click("#agree");
    await say(page, "Nothing is drawn: not a whole number from 18 to 90");
    assert.equal(await isShown(page, "#answered"), false);
    await page.$eval("input[type=number]", (input) => (input.value = "40"));
    assert.deepEqual(server.posts(), []);
    await agree(page);
    return "an answer outside its domain draws nothing and sends nothing, for no question; then a right one does";
  });
}

export function leavesOut(given) {
  return withPage(given, async (page, server) => {
    await see(page, "#ask");
    await page.click("#refuse");
    await say(page, "You said no");
    await page.reload();
    await say(page, "You said no");
    assert.deepEqual(server.posts(), []);
    await page.click("#ask-again");
    await fill(page);
    await page.click("#form > fieldset:nth-of-type(1) .skip input");
    await page.click("#form > fieldset:nth-of-type(3) .skip input");
    await agree(page);
    await say(page, "“How old are you?”, “About your home”.");
    assert.deepEqual(JSON.parse(server.posts()[0].body).map(({ question }) => question), ["section"]);
    assert.match(await shown(page, "#spent"), /ε\s=\s1 of 3/);
    await page.click("#ask-again");
    await see(page, "input[type=number]");
    await page.type("input[type=number]", "40");
    await page.click("#form > fieldset:nth-of-type(2) .skip input");
    await agree(page);
    const [first, second] = server.posts().map(({ body }) => JSON.parse(body));
    assert.deepEqual(second.map(({ question }) => question), ["age", "section"]);
    assert.deepEqual(second[1], first[0]);
    return "a no to the study is remembered and sends nothing; questions that were left out can be asked again, and what was drawn stays";
  });
}

/** From the top of the page with Tab, arrows, Space and Enter alone. */
export function byKeyboard(given) {
  return withPage(given, async (page, server) => {
    await see(page, "#ask");
    const keys = async (...names) => {
      for (const name of names) await page.keyboard.press(name);
    };
    const tabTo = async (wanted) => {
      for (let i = 0; i < 12 && !(await page.evaluate((selector) => document.activeElement.matches(selector), wanted)); i += 1) await keys("Tab");
      assert.ok(await page.evaluate((selector) => document.activeElement.matches(selector), wanted), wanted);
    };
    await tabTo("summary");
    await keys("Enter");
    await tabTo("input[type=number]");
    await page.keyboard.type("40");
    await keys("Enter"); // is no consent
    await tabTo("input[type=radio]");
    await keys(" ", "ArrowRight");
    await tabTo("select");
    await page.keyboard.type("a dog");
    await tabTo("fieldset fieldset input[type=radio]");
    await keys(" ");
    assert.deepEqual(server.posts(), []);
    await tabTo("#agree");
    await keys("Enter");
    await say(page, "Your reports have arrived");
    await tabTo("#answered summary");
    await keys("Enter");
    await see(page, "#bytes");
    return "answers, consent and what was sent by Tab, arrows, Space and Enter; Enter in an input is no consent";
  });
}

/** Where nothing may be drawn, the page says why, asks nothing, and sends nothing. */
export async function cannot(given) {
  const said = [];
  const check = (options, words) =>
    withPage({ ...given, ...options }, async (page, server) => {
      await say(page, words);
      assert.equal(await isShown(page, "#ask"), false);
      assert.deepEqual(server.posts(), []);
      said.push(words);
    });
  await check({ before: () => Object.defineProperty(globalThis, "indexedDB", { value: undefined }) }, "does not let the page keep anything");
  const control = { "privacy.globalprivacycontrol.enabled": true, "privacy.globalprivacycontrol.functionality.enabled": true };
  const before = given.kind.name === "chrome" ? () => Object.defineProperty(navigator, "globalPrivacyControl", { value: true }) : undefined;
  await check({ preferences: control, before }, "Global Privacy Control");
  for (const [question, reason] of [["address", "would tell more than this page says"], ["age", "a study of this name asked something else"]]) {
    await withPage(given, async (page, server) => {
      await see(page, "#ask");
      await page.evaluate((name) => new Promise((resolve) => {
        const entry = { study: "readers", question: name, spec: "another", epsilon: "2.5", body: '{"report":40}' };
        indexedDB.open("bipartite-report").onsuccess = ({ target: { result } }) => {
          const writing = result.transaction("kept", "readwrite");
          writing.objectStore("kept").add(entry, ["readers", name]);
          writing.oncomplete = () => resolve(result.close());
        };
      }), question);
      await page.reload();
      await see(page, "#ask");
      await page.click(question === "age" ? ".skip input" : "#form > fieldset:nth-of-type(2) .skip input");
      if (question === "address") await page.type("input[type=number]", "40");
      await page.select("select", "1");
      await page.click("#form fieldset fieldset .choice input");
      if (question === "age") await page.click("#refuse");
      else await page.click("#agree");
      await say(page, reason);
      assert.match(await shown(page, "#spent"), /ε\s=\s2\.5 of 3/);
      assert.deepEqual(server.posts(), []);
    });
    said.push(reason);
  }
  await withPage(given, async (page) => {
    await page.setJavaScriptEnabled(false).catch(() => {}); // Firefox has no such switch here
    await page.reload();
    if (given.kind.name === "chrome") await say(page, "JavaScript is off");
  });
  return `“${said.join("”, “")}”; and without JavaScript`;
}

/** Every state of the page. */
export function participantAccessible(given) {
  return withPage({ ...given, answers: [503] }, async (page) => {
    const { look, told } = looking(given.kind);
    await see(page, "#ask");
    await look(page, "asked");
    await page.click("#refuse");
    await say(page, "You said no");
    await look(page, "refused");
    await page.click("#ask-again");
    await fill(page);
    await page.click("#form > fieldset:nth-of-type(1) .skip input");
    await look(page, "filled");
    await page.click("#agree");
    await see(page, "#again");
    await look(page, "not sent");
    await page.click("#again");
    await say(page, "Your reports have arrived");
    await look(page, "sent");
    return told(page);
  });
}
