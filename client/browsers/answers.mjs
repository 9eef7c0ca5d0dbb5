// The pages of the answers, of a collector that runs as its command runs it, with the reports of made-up people.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { running as collecting } from "./collector.mjs";
import { looking } from "./looking.mjs";
import { withBrowser } from "./pages.mjs";

const labels = (word, count) => JSON.stringify(Array.from({ length: count }, (_, i) => `${word} ${i + 1}`));

/** A question of every kind of answer. */
const STUDY = `
title = "Readers of the Courier"
text = "Who reads us, and what first?"
ends = 2099-12-31
public = true
[questions.age]
ask = "How old are you?"
domain = { integers = [18, 90] }
epsilon = 1
[questions.section]
ask = "Which section do you read first?"
domain = { categories = ["news", "sport", "a section whose name is long, with many words that a phone must wrap"] }
epsilon = 1
[questions.town]
ask = "Where do you live?"
domain = { categories = ${labels("town", 40)} }
epsilon = 2
[questions.word]
ask = "Which word do you like best?"
domain = { categories = ${labels("word", 200)} }
mechanism = "olh"
epsilon = 2
[questions.apps]
ask = "Which app do you use most?"
domain = { categories = ${labels("app", 30)} }
mechanism = "oue"
epsilon = 2
[questions.hour]
ask = "At which hour do you read?"
domain = { cyclic = 24 }
epsilon = 2
[questions.person]
ask = "About your home"
[questions.person.record.pet]
ask = "Which pet lives with you?"
domain = { categories = ["none", "a cat", "a dog", "both"] }
epsilon = 2
[questions.person.record.people]
ask = "How many people live with you?"
domain = { integers = [0, 6] }
epsilon = 2
`;

/** What everybody and the operator see: too few reports, some thousand, some that cannot be, the end; and a used link. */
export async function answersAccessible({ kind, home }) {
  mkdirSync(home);
  const file = join(home, "readers.toml");
  writeFileSync(file, STUDY);
  const { origin, link, run, close } = await collecting(file);
  const people = (...words) => run(fileURLToPath(new URL("people.py", import.meta.url)), join(home, "readers.db"), ...words);
  try {
    return await withBrowser({ kind }, async (running) => {
      const { look, told } = looking(kind);
      const everybody = await (await running.createBrowserContext()).newPage();
      const operator = await running.newPage();
      const answers = async (page, state, words) => {
        await page.goto(`${origin}answers`);
        const shown = await page.$eval("main", ({ innerText }) => innerText);
        for (const each of words) assert.match(shown, each, state);
        await look(page, state);
      };
      await operator.goto(link);
      await look(operator, "link");
      await Promise.all([operator.waitForNavigation(), operator.click("button")]);
      await everybody.goto(link);
      await Promise.all([everybody.waitForNavigation(), everybody.click("button")]);
      await look(everybody, "used link");
      people("60");
      await answers(operator, "operator few", [/Interim/, /Not yet/, /Reports by day/]);
      await answers(everybody, "public few", [/Interim/, /Not yet/]);
      people("8000");
      await answers(operator, "operator", [/Mean \d/, /smaller shares/, /Correlation|both/]);
      people("4000", "age");
      await answers(operator, "operator doubt", [/Do not trust/]);
      await answers(everybody, "public", [/Mean \d/]);
      run("-m", "bipartite", "collect", "close", file);
      await answers(everybody, "public closed", [/Mean \d/]);
      await everybody.goto(origin);
      await look(everybody, "closed");
      return told(everybody);
    });
  } finally {
    await close();
    rmSync(home, { recursive: true });
  }
}
