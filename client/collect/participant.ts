// The page of the person who is asked: their answers, their consent, one draw for each question, and what is sent.
// Nothing is sent before consent, and nothing that depends on an answer but its report.
import { addDecimals } from "../src/decimal.js";
import { element, find } from "../demo/elements.js";
import {
  type Drawn, NoReportError, type Reason, type Spec, account, askAgain, describe, draw, parseRecord, parseSpec, privacyControl, refuse, reportOnce, sendWithFetch,
} from "../src/index.js";
import { type Input, group, inputOf } from "./inputs.js";

interface Part {
  readonly name: string;
  readonly ask: string;
  readonly spec: string;
}

/** A question as the server writes it into the page. */
interface QuestionJson {
  readonly name: string;
  readonly ask: string;
  readonly record: boolean;
  readonly sample: number | null;
  readonly parts: readonly Part[];
}

interface Question extends QuestionJson {
  readonly checked: Spec;
}

/** What a person does with a question: answer it, or leave it out. */
interface Box {
  readonly shown: HTMLElement;
  readonly isSkipped: () => boolean;
  readonly value: () => unknown;
}

const { study, questions: given } = JSON.parse(find("#study").textContent ?? "") as { study: string; questions: QuestionJson[] };
const boxes = new Map<string, Box>();
let questions: readonly Question[] = [];
let most = "0"; // ε of the whole study, as it is said before consent
let open: readonly Question[] = [];
let isRefused = false; // the whole study
let body = ""; // what is sent: all reports that this device keeps for the study, as they were drawn

const reasons: { readonly [reason in Reason]?: string } = {
  "privacy-control": "Your browser tells every site not to share your data (Global Privacy Control), so nothing is drawn and nothing is sent. To take part, allow it for this site in the browser’s settings, then reload this page.",
  storage: "This browser does not let the page keep anything, or has no room left. A report that is not kept would be drawn again, and tell more each time; so none is drawn. In a private window, try a normal one.",
  changed: "This device has answered a question of this name before, when it was asked in another way. A second report would tell more about you, so none is drawn.",
  budget: "This device has already drawn reports for a study of this name. With another one they would tell more than this page says, so none is drawn.",
  refused: "In another tab you have said no.",
  drawn: "In another tab you have already agreed. What is drawn cannot be taken back.",
};

function specOf({ record, sample, parts }: QuestionJson): Spec {
  if (record) return parseRecord(parts.map(({ name, spec }) => [name, spec]), sample ?? undefined);
  return parseSpec((parts[0] as Part).spec);
}

/** ε in words, of the whole study and of each question; figures are rounded up. */
function showOdds(): void {
  const { times, sure } = describe({ epsilon: most });
  const can = sure.startsWith("more") ? "can be" : "is at most";
  find("#odds-text").append(
    "Whoever answers these questions could have sent the same reports as you, whatever their answers are. Your answers make them ", element("strong", {}, `at most ${times} times as likely`),
    ` as other answers would (ε = ${most} in all). Somebody who finds two sets of answers equally likely beforehand `, element("strong", {}, `${can} ${sure} % sure`), " of one of them afterwards.",
  );
  find("#odds-rows").append(...questions.map(({ ask, checked }) => row(ask, checked.epsilon, describe(checked).times)));
  find("#odds").hidden = false;
}

/** The first cell says what the others are about. Long words may be broken. */
const row = (...cells: string[]): HTMLElement =>
  element("tr", {}, ...cells.map((cell, i) => (i ? element("td", {}, /\S{16}/.test(cell) ? element("code", {}, cell) : cell) : element("th", { scope: "row", dir: "auto" }, cell))));

function boxOf({ ask, record, sample, parts }: Question): Box {
  const inputs = parts.map(({ spec }): Input => inputOf(JSON.parse(spec).domain));
  const skip = element("input", { type: "checkbox", autocomplete: "off" });
  const some = sample ? [element("p", { class: "soft" }, `Your device reports ${sample} of these ${parts.length}, chosen at random. Answer all of them.`)] : [];
  const shown = group(
    ask,
    ...some,
    ...inputs.map((input, i) => (record ? group((parts[i] as Part).ask, input.shown) : input.shown)),
    element("label", { class: "skip" }, skip, "I would rather not answer"),
  );
  skip.onchange = () => {
    for (const each of shown.querySelectorAll<HTMLInputElement>("input, select")) if (each !== skip) each.disabled = skip.checked;
  };
  const value = (): unknown =>
    record ? Object.fromEntries(inputs.map((input, i) => [(parts[i] as Part).name, input.value()])) : inputs[0]?.value();
  return { shown, isSkipped: () => skip.checked, value };
}

/** Show what this device keeps, and ask what is still open. */
async function show(): Promise<void> {
  const { drawn, refused, spent, total } = await account();
  const mine = drawn.filter((entry) => entry.study === study);
  const no = refused.filter((entry) => entry.study === study);
  isRefused = no.some(({ question }) => question === undefined);
  open = questions.filter(({ name }) => ![...mine, ...no].some(({ question }) => question === name));
  const isAsked = open.length > 0 && !isRefused && !privacyControl();
  for (const name of [...boxes.keys()]) if (!isAsked || !open.some((each) => each.name === name)) boxes.delete(name); // and what was answered
  for (const each of isAsked ? open : []) if (!boxes.has(each.name)) boxes.set(each.name, boxOf(each));
  find("#form").replaceChildren(...open.flatMap(({ name }) => boxes.get(name)?.shown ?? []));
  find("#ask").hidden = !isAsked;
  if (open.length && !isRefused && privacyControl()) trouble(reasons["privacy-control"]);
  showNo(no.map(({ question }) => question));
  showDrawn(mine);
  const others = total === spent.get(study) ? "" : ` For all studies of this site together: ε = ${total}.`;
  find("#spent").textContent = `Spent on this device for this study: ε = ${spent.get(study) ?? 0} of ${most}.${others}`;
}

function showNo(names: readonly (string | undefined)[]): void {
  const asks = questions.filter(({ name }) => names.includes(name)).map(({ ask }) => `“${ask}”`);
  find("#refused").hidden = !isRefused && !asks.length;
  find("#h-refused").textContent = isRefused ? "You said no" : "What you left out";
  find("#refused-text").textContent = `${isRefused ? "Nothing is drawn, and nothing is sent." : `${asks.join(", ")}.`} This device remembers it.`;
}

function showDrawn(mine: readonly Drawn[]): void {
  find("#answered").hidden = !mine.length;
  const words = new Map(questions.map(({ name, ask }) => [name, ask]));
  const said = (report: unknown): string =>
    typeof report === "object" ? Object.entries(report as object).map(([part, one]) => `${part}: ${said(one)}`).join(", ") : String(report);
  find("#drawn").replaceChildren(...mine.map(({ question, epsilon, body: text }) => row(words.get(question) ?? question, said(JSON.parse(text).report), epsilon)));
  // A report under another spec would have the collector refuse the others as well.
  const fits = mine.filter(({ question, spec }) => questions.some(({ name, checked }) => name === question && checked.hash === spec));
  body = fits.length ? `[${fits.map((each) => each.body).join(",")}]` : "";
  find("#bytes").textContent = body;
  find("#other").hidden = fits.length === mine.length;
}

function trouble(words = ""): void {
  find("#trouble").hidden = !words;
  find("#trouble-text").textContent = words;
}

/** Send what is kept; a retry sends the same bytes, and they count once. */
async function send(): Promise<void> {
  if (!body) return;
  const tell = (words: string, isAgain = false): void => {
    find("#sending").textContent = words;
    find("#again").hidden = !isAgain;
  };
  tell("Sending …");
  try {
    await sendWithFetch("reports", body);
    tell("Your reports have arrived, and are counted once. Thank you.");
  } catch (error) {
    const status = /HTTP (\d+)$/.exec(String((error as Error).message))?.[1];
    if (status === "410") return tell("The study has ended: your reports are no longer taken. If they arrived earlier, they count.");
    const why: { readonly [status: string]: string } = {
      "404": "This study is not collected here.",
      "409": "The study asks in another way than this page. Reload the page.",
      "429": "Too many requests came from your network within the hour. Open this page again later.",
      "503": "The collector is busy or being repaired. Wait a minute.",
    };
    const words = status ? (why[status] ?? `The collector did not take your reports (HTTP ${status}). Tell whoever asks you.`) : "The collector could not be reached.";
    tell(`${words} Your reports are kept on this device: “Try again” sends the same bytes, and draws nothing anew.`, true);
  }
}

/** Remember what the person left out, and draw the rest. */
async function drawAll(): Promise<void> {
  const answers = open.map((question) => ({ question, box: boxes.get(question.name) as Box }));
  const answered = answers.filter(({ box }) => !box.isSkipped()).map(({ question, box }) => ({ question, value: box.value() }));
  // Every answer is of its domain, or nothing happens at all. These reports are thrown away, unseen.
  for (const { question, value } of answered) draw(question.checked, value);
  for (const { question, box } of answers) if (box.isSkipped()) await refuse({ study, question: question.name });
  for (const { question, value } of answered) {
    await reportOnce({ study, question: question.name, spec: question.checked }, value, { consent: true }, { epsilon: most, study: most });
  }
}

/** The person's word. If nothing was drawn, nothing is sent: that there was an error may tell something. */
async function agree(): Promise<void> {
  if (!find<HTMLFormElement>("#form").reportValidity()) return;
  const before = body;
  await attempt(drawAll, "#h-answered");
  if (body !== before) await send();
}

/** Do one thing at a time, say in words what went wrong, and show what is kept. */
async function attempt(action: () => Promise<unknown>, focus?: string): Promise<void> {
  const buttons = document.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  trouble();
  let failure: unknown;
  await action().catch((error: unknown) => (failure = error));
  await show().catch((error: unknown) => (failure ??= error));
  if (failure) trouble(failure instanceof NoReportError ? (reasons[failure.reason] ?? failure.message) : `Nothing is drawn: ${(failure as Error).message}.`);
  for (const button of buttons) button.disabled = false;
  const shown = [failure ? "#h-trouble" : focus, "#h-answered", "#h-refused"].find((each) => each && find(each).offsetParent);
  if (focus && shown) find(shown).focus();
}

async function start(): Promise<void> {
  try {
    questions = given.map((question) => ({ ...question, checked: specOf(question) }));
    most = addDecimals(questions.map(({ checked }) => checked.epsilon));
    showOdds();
  } catch (error) {
    return trouble(`The questions of this page do not keep what they promise, so nothing is drawn (${(error as Error).message}). Tell whoever asks you.`);
  }
  await attempt(async () => {});
  // What is kept is sent again at each visit: a collector that was restored from a backup may lack it.
  if (!isRefused) await send();
}

find("#form").onsubmit = (event) => event.preventDefault(); // Enter in an input is no consent
find("#agree").onclick = agree;
find("#refuse").onclick = () => attempt(() => refuse({ study }), "#h-refused");
find("#ask-again").onclick = () => attempt(async () => {
  for (const question of [undefined, ...questions.map(({ name }) => name)]) await askAgain(question === undefined ? { study } : { study, question });
}, "#h-answers");
find("#again").onclick = send;
window.addEventListener("pageshow", ({ persisted }) => persisted && attempt(async () => {}));
void start();
