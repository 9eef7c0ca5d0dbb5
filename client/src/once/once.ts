import { addDecimals, exceeds } from "../decimal.js";
import type { Report } from "../report.js";
import { cryptoWords } from "../words.js";
import { NoReportError } from "./errors.js";
import { type Drawn, type No, at, decide, isDrawn, keyOf } from "./store.js";

/** Which question of which study. Names are public; another name is another question, and spends ε again. */
export interface Question {
  readonly study: string;
  readonly question: string;
}

/** What is sent. `spec` is its hash; `key` is drawn with the report and the same in every retry. */
export interface Envelope extends Question {
  readonly v: 1;
  readonly spec: string;
  readonly report: Report;
  readonly key: string;
}

/** The one report of a question: `body` is the text to send, `fresh` whether this call drew it. */
export interface Kept {
  readonly envelope: Envelope;
  readonly body: string;
  readonly epsilon: string;
  readonly fresh: boolean;
}

/** One draw of a checked spec, if the ε of its study stays within `cap`. `report` is called at most once, and synchronously. */
export interface Draw {
  readonly spec: string;
  readonly epsilon: string;
  readonly cap: string;
  readonly report: () => Report;
}

/** Said by the person before anything is drawn. Nothing cancels a draw: to send only reports that one likes has no ε. */
export interface Consent {
  readonly consent: true;
}

/**
 * The report of this question: the one that this device keeps, or else one that is drawn now, kept, and then handed out.
 * In every other case there is an error and no report.
 */
export async function drawOnce(question: Question, draw: Draw, consent: Consent): Promise<Kept> {
  const place = placeOf(question);
  // Their own word: what an object has from its prototype, nobody said here.
  if (!consent || !Object.hasOwn(consent, "consent") || consent.consent !== true) {
    throw new NoReportError("consent", "nothing is drawn before the person has agreed");
  }
  return decide(place, (found, all) => {
    if (isDrawn(found)) {
      if (found.spec === draw.spec) return [handed(found, false)];
      throw new NoReportError(
        "changed",
        "this question was answered under another spec, and a second report would spend ε again; ask under a new name",
      );
    }
    if (found ?? at({ study: place.study }, all)) throw new NoReportError("refused", "the person said no to this question or study");
    if (privacyControl()) {
      throw new NoReportError("privacy-control", "the browser's Global Privacy Control is on: nothing is drawn");
    }
    const { spec, epsilon, cap } = draw;
    const sum = addDecimals([...all.filter(isDrawn), draw].map((each) => each.epsilon));
    if (exceeds(sum, cap)) throw new NoReportError("budget", `ε of this study would be ${sum} here, above ${cap}`);
    const envelope: Envelope = { v: 1, ...place, spec, report: draw.report(), key: randomKey() };
    const keep: Drawn = { ...place, spec, epsilon, body: JSON.stringify(envelope) };
    return [handed(keep, true), keep];
  });
}

/** The report that this device keeps for the question, to send it again; nothing is drawn. */
export async function kept(question: Question): Promise<Kept | undefined> {
  return decide(placeOf(question), (found) => [isDrawn(found) ? handed(found, false) : undefined]);
}

/** Remember a no, to one question or to a whole study. It comes before the draw or not at all. */
export async function refuse(question: No): Promise<void> {
  const place = wholeOrPlace(question);
  return decide(place, (found) => {
    if (isDrawn(found)) throw new NoReportError("drawn", "the report was drawn after a yes, and cannot be taken back");
    return [undefined, found ? undefined : place];
  });
}

/** Forget a no, because the person wants to be asked again. A report is never forgotten. */
export async function askAgain(question: No): Promise<void> {
  const place = wholeOrPlace(question);
  return decide(place, (found) => [undefined, undefined, isDrawn(found) ? undefined : place]);
}

/** Whether the person's browser tells every page not to share their data. */
export function privacyControl(): boolean {
  return (globalThis.navigator as { globalPrivacyControl?: unknown } | undefined)?.globalPrivacyControl === true;
}

function handed({ epsilon, body }: Drawn, fresh: boolean): Kept {
  return { envelope: JSON.parse(body), body, epsilon, fresh };
}

const placeOf = ({ study, question }: Question): Question => ({ study: named(study), question: named(question) });

const wholeOrPlace = (no: No): No => (keyOf(no).length > 1 ? placeOf(no as Question) : { study: named(no.study) });

/** Names that are canonically equivalent in Unicode are one: `é` as one character or as two. */
function named(name: unknown): string {
  if (typeof name === "string" && name) return name.normalize("NFC");
  throw new TypeError("a study and a question have names: texts that are not empty");
}

/** 128 bits, from the same source as words. */
function randomKey(): string {
  const words = cryptoWords();
  return [words(), words()].map((word) => word.toString(16).padStart(16, "0")).join("");
}
