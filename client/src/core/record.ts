import { addDecimals, exceeds } from "../decimal.js";
import type { Report } from "../report.js";
import { ValueError, must } from "./errors.js";
import { type Limits, type Sampler, type Spec, checked, limit, parseSpec, samplerOf, specHash } from "./spec.js";
import { lottery } from "./tickets.js";

/**
 * A record: several attributes, each under its own spec, or `sample` of them drawn at random. A record has no spec text,
 * so that its hash is ours: the SHA-256 of {"record":[[name, hash], …],"sample":null or k} without white space.
 */
export function parseRecord(attributes: readonly (readonly [name: string, text: string])[], sample?: number, limits?: Limits): Spec {
  const count = attributes.length;
  must(count > 0 && new Set(attributes.map(([name]) => name)).size === count, "record: no attribute, or a repeated name");
  must(sample === undefined || (Number.isInteger(sample) && sample > 0 && sample < count), "sample: not from 1 to one less than all attributes");
  const parts = attributes.map(([name, text]) => ({ name, spec: parseSpec(text, limits) }));
  const spent = parts.map(({ spec }) => spec.epsilon).sort((one, other) => (exceeds(other, one) ? 1 : -1));
  const epsilon = addDecimals(spent.slice(0, sample));
  limit(epsilon, limits);

  const sets = sample === undefined ? 1 : choose(count, sample);
  must(sets <= 2 ** 16, "sample: more than 2^16 sets");
  const draw = lottery(sets);
  const sampler: Sampler = (value) => {
    const given = typeof value === "object" && value !== null ? value : {};
    if (Object.keys(given).length !== count || !parts.every(({ name }) => Object.hasOwn(given, name))) {
      throw new ValueError("not an object with one value for each attribute");
    }
    const ready = parts.map(({ name, spec }) => samplerOf(spec)((given as { readonly [name: string]: unknown })[name]));
    return (words) => {
      const chosen = sample === undefined ? undefined : combination(count, sample, draw(words));
      const reports = ready.map((each, i): [string, Report] => [parts[i]?.name as string, each(words)]);
      return Object.fromEntries(reports.filter((_, i) => !chosen || chosen.includes(i)));
    };
  };
  const names = parts.map(({ name, spec }) => [name, spec.hash]);
  return checked(specHash(JSON.stringify({ record: names, sample: sample ?? null })), epsilon, sampler);
}

/** How many sets of k there are among n. */
function choose(n: number, k: number): number {
  let sets = 1;
  for (let i = 1; i <= k && sets <= 2 ** 40; i += 1) sets = (sets * (n - k + i)) / i;
  return sets;
}

/** Set number c of k among n positions, in lexicographic order. */
function combination(n: number, k: number, c: number): number[] {
  const found: number[] = [];
  let left = c;
  for (let at = 0; found.length < k; at += 1) {
    const sets = choose(n - at - 1, k - found.length - 1); // those that go on with `at`
    if (left < sets) found.push(at);
    else left -= sets;
  }
  return found;
}
