import { exceeds } from "../decimal.js";
import type { Report } from "../report.js";
import { type WordSource, cryptoWords } from "../words.js";
import { anchored, anchoredMeans, constant, grr, minimax } from "./flat.js";
import { oue, rappor } from "./bits.js";
import { domainOf } from "./domain.js";
import { type Bound, DECIMAL, boundOf, checkEpsilon } from "./epsilon.js";
import { SpecError, must } from "./errors.js";
import { hadamardResponse } from "./hadamard.js";
import { type Node, readJson } from "./json.js";
import { duchi, hybrid, piecewise } from "./means.js";
import type { Mechanism } from "./mechanism.js";
import { noise } from "./noise.js";
import { olh } from "./olh.js";
import { regional } from "./regions.js";
import { subsetSelection } from "./subset.js";
import { table } from "./tables.js";
import { brr } from "./window.js";

/** A spec that was checked completely. */
export interface Spec {
  /** The SHA-256 of its canonical form. */
  readonly hash: string;
  /** What one draw spends in all, an exact decimal in plain digits. */
  readonly epsilon: string;
}

/** Without limits, the largest ε to draw at is 20, and so is the largest sum of a study. */
export interface Limits {
  /** The largest ε to draw at. No spec can raise it. */
  readonly epsilon: string;
  /** The largest sum of ε over all questions of a study that this device answers; 20 unless it is said. */
  readonly study?: string;
}

const MOST = "20";

/** Checks a value, and gives its draw. */
export type Sampler = (value: unknown) => (words: WordSource) => Report;

const samplers = /* @__PURE__ */ new WeakMap<Spec, Sampler>();

/** A spec that `draw` takes; nothing else is one. */
export function checked(hash: string, epsilon: string, sampler: Sampler): Spec {
  const spec = Object.freeze({ hash, epsilon });
  samplers.set(spec, sampler);
  return spec;
}

export function samplerOf(spec: Spec): Sampler {
  const sampler = samplers.get(spec);
  if (!sampler) throw new SpecError("not a spec that parseSpec or parseRecord gave");
  return sampler;
}

/** Refuses what spends more than the limit. */
export function limit(epsilon: string, limits: Limits = { epsilon: MOST }): void {
  const most = decimal(Object.hasOwn(limits, "epsilon") && limits.epsilon);
  must(!exceeds(epsilon, most), `ε is ${epsilon}, and this client draws at ${most} at most`);
}

/** The largest sum of ε over a study. */
export const capOf = (limits?: Limits): string => decimal(limits && Object.hasOwn(limits, "study") ? limits.study : MOST);

function decimal(most: unknown): string {
  must(typeof most === "string" && DECIMAL.test(most), "the largest ε is not a decimal in plain digits");
  return most as string;
}

/** The SHA-256 of the canonical form of a spec, by which it is named. */
export const specHash = (text: string): string => readJson(text).hash;

/** Reads the JSON text of a spec and checks it completely: its form, its ε, its domain, and its tickets against e^ε. */
export function parseSpec(text: string, limits?: Limits): Spec {
  const { root, hash } = readJson(text);
  const [mechanism, version, check] = mechanismOf(root.at("mechanism"));
  root.at("bipartite").must(root.at("bipartite").number() === version, `not version ${version}, which ${mechanism} has`);
  let epsilon = "0";
  let within: Bound = () => false;
  if (mechanism !== "constant") {
    epsilon = root.at("epsilon").string(DECIMAL, "a decimal in plain digits");
    checkEpsilon(epsilon);
    limit(epsilon, limits);
    within = boundOf(epsilon);
  }
  const domain = domainOf(root.at("domain"));
  const release = check(root, domain, within);
  root.done();
  return checked(hash, epsilon, (given) => {
    const place = domain.place(given);
    return (words) => release(domain.round ? domain.round(place, words) : place, words);
  });
}

/** Draws the report of a value. The value is checked before a word is taken. */
export function draw(spec: Spec, value: unknown, words?: WordSource): Report {
  return samplerOf(spec)(value)(words ?? cryptoWords());
}

/** The name, the version and the check of a mechanism. */
function mechanismOf(node: Node): readonly [name: string, version: number, check: Mechanism] {
  const all: { readonly [name: string]: readonly [version: number, check: Mechanism] } = {
    brr: [1, brr],
    grr: [2, grr],
    anchored: [2, anchored],
    constant: [2, constant],
    custom: [2, table(["numbers", "labels"])],
    optimal: [2, table(["numbers"])],
    exponential: [2, table([], "tight")],
    lsrr: [2, table([], "calibrated")],
    geometric: [2, noise(false)],
    laplace: [2, noise(true)],
    staircase: [2, noise(true, true)],
    duchi: [2, duchi],
    piecewise: [2, piecewise],
    hybrid: [2, hybrid],
    oue: [3, oue],
    sue: [3, oue],
    rappor: [3, rappor],
    "subset-selection": [3, subsetSelection],
    olh: [3, olh],
    "hadamard-response": [3, hadamardResponse],
    "two-level": [4, regional(false)],
    "region-weighted": [4, regional(true)],
    minimax: [5, minimax],
    "anchored-means": [5, anchoredMeans],
  };
  const name = node.string(/^/, "a name");
  node.must(name !== "planar-laplace" && name !== "within-region", `${name} does not keep ε between all values`);
  node.must(Object.hasOwn(all, name), "unknown");
  return [name, ...(all[name] as readonly [number, Mechanism])];
}
