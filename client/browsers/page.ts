// What the tests do within a page; run.mjs opens pages and says which.
import * as client from "../src/index.js";
import { type Case, drawn, isRefused, specOf } from "../test/vectors.js";

const { draw, kept, parseSpec, reportOnce } = client;

/** Which cases differ from what their vector says, in the report, the hash or the number of words. */
function vectors(cases: Case[]): string[] {
  const specs = new Map<string, client.Spec>();
  const agrees = (given: Case): boolean => {
    const key = JSON.stringify(given.spec);
    try {
      const spec = specs.get(key) ?? specOf(given);
      specs.set(key, spec);
      const same = JSON.stringify(drawn(given, spec)) === JSON.stringify(given.report);
      return same && (given.hash ?? spec.hash) === spec.hash;
    } catch (error) {
      return error instanceof client.SpecError && isRefused(given);
    }
  };
  return cases.filter((given) => !agrees(given)).map(({ name }) => name);
}

/** Pearson's statistic of n draws against the chances of each report; a report that has none makes it infinite. */
function chiSquare(text: string, value: unknown, reports: unknown[], chances: number[], n: number): { statistic: number; took: number } {
  const spec = parseSpec(text);
  const words = client.cryptoWords();
  const places = new Map(reports.map((report, i) => [report, i]));
  const counts = new Float64Array(reports.length);
  let strange = 0;
  const began = performance.now();
  for (let i = 0; i < n; i += 1) {
    const at = places.get(draw(spec, value, words));
    if (at === undefined) strange += 1;
    else counts[at] = (counts[at] ?? 0) + 1;
  }
  const took = performance.now() - began;
  const statistic = counts.reduce((sum, count, i) => sum + (count - n * (chances[i] ?? 0)) ** 2 / (n * (chances[i] ?? 0)), 0);
  return { statistic: strange ? Infinity : statistic, took };
}

/** What a call ends with: the text that was handed out, or the reason and message of the error. */
async function outcome(work: Promise<client.Kept | undefined>): Promise<string> {
  try {
    return (await work)?.body ?? "nothing is kept";
  } catch (error) {
    const { reason, name, message } = error as client.NoReportError;
    return `${reason ?? name}: ${message}`;
  }
}

/** Many questions are asked here; `most` is all that they may spend. */
const ask = (question: string, spec: string, value: unknown, most = "1000"): Promise<client.Kept> =>
  reportOnce({ study: "browsers", question, spec }, value, { consent: true }, { epsilon: "20", study: most });

/** As it must not be done: the report is handed out first and stored later. */
async function careless(question: string, spec: string, value: unknown): Promise<{ body: string }> {
  const stored = localStorage.getItem(question);
  if (stored) return { body: stored };
  const body = JSON.stringify({ question, report: draw(parseSpec(spec), value) });
  setTimeout(() => localStorage.setItem(question, body), 500);
  return { body };
}

/** Ask, hand what comes to the server at once, and reload after so many milliseconds, for each of the delays. */
async function reloading(question: string, spec: string, value: unknown, delays: number[], how: "ask" | "careless"): Promise<void> {
  const round = Number(sessionStorage.getItem(question) ?? 0);
  const handed = (how === "ask" ? ask : careless)(question, spec, value).then(({ body }) =>
    navigator.sendBeacon(`/handed?question=${encodeURIComponent(question)}`, body),
  );
  const delay = delays[round];
  if (delay !== undefined) {
    sessionStorage.setItem(question, String(round + 1));
    setTimeout(() => location.reload(), delay);
    return;
  }
  await handed;
  document.title = "done";
}

const tests = {
  vectors,
  chiSquare,
  ask: (question: string, spec: string, value: unknown, most?: string) => outcome(ask(question, spec, value, most)),
  kept: (question: string) => outcome(kept({ study: "browsers", question })),
  refuse: (question: string) => client.refuse({ study: "browsers", question }),
  account: client.account,
  sendWithFetch: client.sendWithFetch,
};
Object.assign(globalThis, { tests });

const wanted = new URLSearchParams(location.search).get("reloading");
if (wanted) {
  const [question, spec, value, delays, how] = JSON.parse(wanted);
  void reloading(question, spec, value, delays, how);
}
