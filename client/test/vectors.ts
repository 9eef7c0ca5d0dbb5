// The vectors of the repository (docs/draw.md, §22), which every implementation of the draw reads, as one list of cases.
import { type Report, type Spec, draw, fixedWords, parseRecord, parseSpec } from "../src/index.js";

/** One vector: what is drawn from, the words in order as decimal texts, and the report. */
export interface Case {
  readonly name: string;
  readonly spec: string | Record;
  readonly hash?: string;
  readonly value: unknown;
  readonly words: readonly string[];
  readonly report: Report;
}

interface Record {
  readonly attributes: readonly (readonly [name: string, spec: string])[];
  readonly sample: number | null;
}

interface Vector {
  readonly value: unknown;
  readonly words: readonly string[];
  readonly report: Report;
}

type Group =
  | ({ readonly spec: object } & Vector)
  | { readonly spec: object | string; readonly sha256?: string; readonly vectors: readonly Vector[] }
  | {
      readonly specs: Readonly<{ [name: string]: object }>;
      readonly sample: number | null;
      readonly values: unknown;
      readonly words: readonly string[];
      readonly reports: Report;
    };

/** What promises less than ε-LDP; the client refuses to draw from it. */
export const REFUSED = ["planar-laplace", "within-region"];

/** Every case of the files, given by name and text; `golden` has the text of a published spec by its name. */
export function casesOf(files: readonly (readonly [name: string, text: string])[], golden: (name: string) => string): Case[] {
  return files.flatMap(([file, text]) =>
    (JSON.parse(text) as Group[]).flatMap((group, i) => casesOfGroup(`${file}, group ${i}`, group, golden)),
  );
}

function casesOfGroup(name: string, group: Group, golden: (name: string) => string): Case[] {
  if ("specs" in group) {
    const attributes = Object.entries(group.specs).map(([each, spec]) => [each, JSON.stringify(spec)] as const);
    const spec = { attributes, sample: group.sample };
    return [{ name, spec, value: group.values, words: group.words, report: group.reports }];
  }
  if (!("vectors" in group)) {
    const { value, words, report } = group;
    return [{ name, spec: JSON.stringify(group.spec), value, words, report }];
  }
  const hash = group.sha256;
  const spec = hash ? String(group.spec) : typeof group.spec === "string" ? golden(group.spec) : JSON.stringify(group.spec);
  return group.vectors.map(({ value, words, report }, i) => ({
    name: `${name}, vector ${i}`,
    spec,
    ...(hash && { hash }),
    value,
    words: hash ? words.map((word) => BigInt(`0x${word}`).toString()) : words, // files with hashes have hexadecimal words
    report,
  }));
}

/** The checked spec of a case. */
export function specOf({ spec }: Case): Spec {
  return typeof spec === "string" ? parseSpec(spec) : parseRecord(spec.attributes, spec.sample ?? undefined);
}

/** The report drawn with the words of a case, all of which must be used; `spec` spares checking it again. */
export function drawn(given: Case, spec: Spec): Report {
  let used = 0;
  const words = fixedWords(given.words.map(BigInt));
  const report = draw(spec, given.value, () => {
    used += 1;
    return words();
  });
  if (used !== given.words.length) throw new Error(`${given.name}: used ${used} of ${given.words.length} words`);
  return report;
}

/** Whether a spec promises less than ε-LDP. */
export const isRefused = ({ spec }: Case): boolean => typeof spec === "string" && REFUSED.includes(JSON.parse(spec).mechanism);
