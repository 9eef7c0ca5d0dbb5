import type { Report } from "../report.js";
import type { WordSource } from "../words.js";
import type { Domain } from "./domain.js";
import type { Bound } from "./epsilon.js";
import type { Node } from "./json.js";

/** Draws the report of the value at an index. */
export type Release = (x: number, words: WordSource) => Report;

/** Checks what a spec says beyond its domain and ε, and gives its draw. */
export type Mechanism = (spec: Node, domain: Domain, within: Bound) => Release;
