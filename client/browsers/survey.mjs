// People who answer a survey one after another on the participant's page, each with storage of their own:
//
//     node browsers/survey.mjs chrome http://localhost:8000 < people.json
//
// A person is a list of answers in the order of the questions: a number to type, the position of a choice to press, or
// null for a question that they leave out. Who is told that the reports did not arrive presses “Try again”. Prints how many
// reports were sent, how often “Try again” was pressed, and the seconds that all took.
import { readFileSync } from "node:fs";
import { chromium, firefox } from "./launch.mjs";
import { withBrowser } from "./pages.mjs";

const [browser, origin] = process.argv.slice(2);
const people = JSON.parse(readFileSync(0, "utf8"));
const BATCH = 100; // a call into the page ends well before it times out

/** In the page: its own form, consent, storage and requests. Only the storage is emptied by us, before each person. */
async function answer(everybody) {
  const find = (selector) => document.querySelector(selector);
  const until = (holds) =>
    new Promise((resolve) => {
      if (holds()) return resolve();
      const observer = new MutationObserver(() => holds() && (observer.disconnect(), resolve()));
      observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    });
  const emptied = () =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open("bipartite-report");
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const clearing = opening.result.transaction("kept", "readwrite");
        clearing.objectStore("kept").clear();
        clearing.oncomplete = () => resolve(opening.result.close());
      };
    });
  const TRIES = 10;
  let sent = 0;
  let again = 0;
  for (const answers of everybody) {
    await emptied();
    find("#sending").textContent = "";
    dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })); // as after the back button: the page looks again
    await until(() => find("#form").childElementCount === answers.length && find("#answered").hidden && !find("#agree").disabled);
    answers.forEach((given, i) => {
      const box = find("#form").children[i];
      if (given === null) return box.querySelector(".skip input").click();
      const choices = box.querySelectorAll(".choice input");
      if (choices.length) choices[given].click();
      else box.querySelector("input").value = String(given);
    });
    find("#agree").click();
    const arrived = () => find("#sending").textContent.includes("arrived");
    for (let tries = 0; !arrived(); tries += 1) {
      await until(() => arrived() || !find("#again").hidden || !find("#trouble").hidden);
      if (tries === TRIES || !find("#trouble").hidden) throw new Error(find("main").innerText);
      if (arrived()) break;
      again += 1;
      await new Promise((resolve) => setTimeout(resolve, 1000));
      find("#again").click();
    }
    sent += JSON.parse(find("#bytes").textContent).length;
  }
  return { sent, again };
}

await withBrowser({ kind: { chrome: chromium, firefox }[browser] }, async (running) => {
  const page = await running.newPage();
  await page.goto(origin);
  await page.waitForFunction(() => !document.querySelector("#ask").hidden);
  const began = performance.now();
  const told = { sent: 0, again: 0 };
  for (let i = 0; i < people.length; i += BATCH) {
    const { sent, again } = await page.evaluate(answer, people.slice(i, i + BATCH));
    told.sent += sent;
    told.again += again;
  }
  console.log(JSON.stringify({ ...told, seconds: (performance.now() - began) / 1000 }));
});
