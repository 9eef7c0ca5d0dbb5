// The demo page: everything that is drawn here is drawn by the package itself.
import { NoReportError, type Report, account, askAgain, cryptoWords, describe, draw, kept, parseSpec, refuse, reportOnce } from "../src/index.js";
import { charts } from "./charts.js";
import data from "./data.json" with { type: "json" };
import { element, find } from "./elements.js";

type Name = keyof typeof data.specs;
type Epsilon = keyof typeof data.specs.age;

const STUDY = "try it";
const PEOPLE = 10_000;
const questions: Record<Name, string> = { age: "Your age", way: "Your way to work", town: "A town" };

const chosen = (group: string): string => find<HTMLInputElement>(`input[name=${group}]:checked`).value;
const question = (): Name => chosen("question") as Name;
const specText = (): string => data.specs[question()][chosen("epsilon") as Epsilon];

function answer(): string | number {
  switch (question()) {
    case "age":
      return Number(find<HTMLInputElement>("#age-value").value);
    case "way":
      return chosen("way");
    case "town":
      return find<HTMLSelectElement>("#town-value").value;
  }
}

function choices(place: string, name: string, options: [value: string, label: string][], first: string): void {
  for (const [value, label] of options) {
    const input = element("input", { type: "radio", name, value });
    input.checked = value === first;
    find(place).append(element("label", { class: "choice" }, input, label));
  }
}

/** Said once by screen readers: a text that is set again, the same, would be read again. */
function say(place: string, text: string): void {
  if (find(place).textContent !== text) find(place).textContent = text;
}

/** Draw for many people who all have this answer, and show what they would send. */
function showShares(): void {
  const spec = parseSpec(specText());
  const words = cryptoWords();
  const value = answer();
  const counts = new Map<Report, number>();
  for (let i = 0; i < PEOPLE; i += 1) {
    const report = draw(spec, value, words);
    counts.set(report, (counts.get(report) ?? 0) + 1);
  }
  const { picture, says } = charts[question()](counts, value, PEOPLE);
  find("#chart").replaceChildren(picture);
  say("#shares", says);
}

function showWords(): void {
  say("#words", describe(parseSpec(specText())).text);
  find("#age-said").textContent = find<HTMLInputElement>("#age-value").value;
  for (const name of Object.keys(questions)) find(`#${name}`).hidden = name !== question();
  find("#town-map").replaceChildren(charts.map(String(find<HTMLSelectElement>("#town-value").value)));
}

/** The report that this browser keeps, if there is one, and the account. */
async function showKept(): Promise<void> {
  const name = question();
  const found = await kept({ study: STUDY, question: name });
  if (found) {
    const { envelope, epsilon } = found;
    find("#outcome").replaceChildren(
      element("p", { class: "drawn" }, "Drawn and kept: ", element("strong", {}, String(envelope.report)), ". This, and nothing else, would be sent:"),
      element("pre", {}, JSON.stringify(envelope, undefined, 1)),
      element("p", {}, `Whatever your answer is, you could have sent it: no answer makes this report more than ${describe({ epsilon }).times} times as likely as another does. Answer otherwise, reload or open a second tab, and agree again: the report stays as it is.`),
    );
  } else find("#outcome").replaceChildren();
  await showAccount();
}

async function showAccount(): Promise<void> {
  const { drawn, refused, total } = await account();
  const rows = [
    ...drawn.map(({ question: asked, epsilon, body }) => [asked, `ε = ${epsilon}`, String(JSON.parse(body).report)]),
    ...refused.map(({ question: asked }) => [asked ?? "everything", "nothing", "you said no"]),
  ];
  if (!rows.length) return find("#account").replaceChildren();
  const cell = (kind: "td" | "th") => (text: string) => element(kind, kind === "th" ? { scope: "col" } : {}, text);
  const forget = element("button", { type: "button", class: "quiet" }, "Forget all of it");
  forget.onclick = () => attempt(forgetAll);
  find("#account").replaceChildren(
    element(
      "table",
      {},
      element("caption", {}, `Spent in this browser: ε = ${total} in all`),
      element("thead", {}, element("tr", {}, ...["Question", "Spent", "Report"].map(cell("th")))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell("td"))))),
    ),
    element("p", {}, forget, " as clearing the browser’s data would. The next report is then a new one, and spends ε again, on top of what is forgotten here. A page that asks in earnest has no such button."),
  );
}

/** Only the entries of this page: other studies of the same origin keep theirs. */
function forgetAll(): Promise<void> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("bipartite-report");
    // There is none any more: it is not made here, where it would have no place for reports, and none could be kept again.
    opening.onupgradeneeded = () => (opening.transaction?.abort(), resolve());
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const deleting = opening.result.transaction("kept", "readwrite");
      deleting.objectStore("kept").delete(IDBKeyRange.bound([STUDY], [STUDY, []]));
      deleting.oncomplete = () => (opening.result.close(), resolve());
    };
  });
}

/** Do it, show what is kept, and say in words what went wrong. */
async function attempt(action: () => Promise<unknown>): Promise<void> {
  let failure: string | undefined;
  try {
    await action();
  } catch (error) {
    failure = error instanceof NoReportError ? error.message : String(error);
  }
  await showKept().catch((error) => (failure ??= String(error.message)));
  if (failure) find("#outcome").prepend(element("p", { class: "error" }, `No new report: ${failure}.`));
}

function agree(): Promise<void> {
  const asked = { study: STUDY, question: question(), spec: specText() };
  return attempt(async () => {
    await askAgain(asked); // who presses this button after a no has changed their mind
    await reportOnce(asked, answer(), { consent: true });
  });
}

choices("#questions", "question", Object.entries(questions), "age");
choices("#way", "way", data.ways.map((way) => [way, way]), "by train");
choices("#epsilons", "epsilon", data.epsilons.map((epsilon) => [epsilon, epsilon]), "1");
find("#town-value").append(...data.towns.map(([name]) => element("option", {}, String(name))));
find<HTMLSelectElement>("#town-value").value = "Vienna";
find("#town-map").onclick = (event) => {
  find<HTMLSelectElement>("#town-value").value = charts.nearest(event);
  changed();
};
find("#agree").onclick = agree;
find("#refuse").onclick = () => attempt(() => refuse({ study: STUDY, question: question() }));

let waiting = 0;
function changed(): void {
  showWords();
  clearTimeout(waiting);
  waiting = window.setTimeout(showShares, 150);
}
find("main").addEventListener("input", (event) => {
  changed();
  if ((event.target as HTMLInputElement).name === "question") void attempt(async () => {});
});
changed();
void attempt(async () => {});
