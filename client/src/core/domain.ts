import type { Report } from "../report.js";
import type { WordSource } from "../words.js";
import { circle } from "./circle.js";
import type { Node } from "./json.js";
import { integers, interval } from "./line.js";
import { items, points } from "./places.js";
import { product } from "./product.js";

/** The values that may be true, numbered from 0. */
export interface Domain {
  readonly size: number;
  /** Of an interval: its ends. */
  readonly ends?: readonly [low: number, high: number];
  /** Of integers and intervals: refuses the spec if reports so many steps beyond the ends are not exact or not different. */
  readonly stretch?: (steps: number) => void;
  readonly isCircle?: boolean;
  readonly isSphere?: boolean;
  readonly isProduct?: boolean;
  /** The largest size at which distances are compared. */
  readonly comparable?: number;
  /** Where a value is: its index, unless it is rounded at random. A value outside the domain is a ValueError. */
  place(value: unknown): number;
  /** The index of a place, where values are rounded at random. It takes a word. */
  readonly round?: (place: number, words: WordSource) => number;
  /** The report of an index; on a line, also beyond the ends. */
  report(index: number): Report;
  distance(from: number, to: number): number;
}

/** A domain, completely checked. */
export function domainOf(node: Node): Domain {
  if (node.has("integers")) return integers(node);
  if (node.has("interval")) return interval(node);
  if (node.has("cyclic")) return circle(node.at("cyclic"));
  if (node.has("items")) return items(node.at("items"));
  if (node.has("points")) return points(node.at("points"));
  node.must(node.has("product"), "unknown");
  return product(node.at("product"));
}
