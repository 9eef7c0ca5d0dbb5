import type { Report } from "../report.js";
import type { Domain } from "./domain.js";
import { must } from "./errors.js";
import type { Node } from "./json.js";
import type { Mechanism } from "./mechanism.js";
import { count, keepAll, lottery, scan, sum } from "./tickets.js";

/** Finite releases: a row of tickets for each value. Outputs may be values, and what else is named. */
export const table =
  (kinds: readonly string[], variant?: string): Mechanism =>
  (spec, domain, within) => {
    if (variant) spec.at("variant").choice(variant, "published");
    const outputs = outputsOf(spec.at("outputs"), domain, kinds);
    must(domain.size * outputs.length <= 2 ** 25, "rows: too large");
    const rows = spec.at("rows").list((row) => row.list(count, outputs.length), domain.size);
    const [total, ...others] = rows.map(sum) as [number, ...number[]];
    const draw = lottery(total);
    must(others.every((other) => other === total), "rows: not all of one sum");
    outputs.forEach((_, y) => keepAll(within, rows.map((row) => row[y] as number)));
    return (x, words) => outputs[scan(rows[x] as number[], draw(words))] as Report;
  };

function outputsOf(node: Node, domain: Domain, kinds: readonly string[]): readonly Report[] {
  if (node.length()) return node.ascending(domain.size).map((index) => domain.report(index));
  const [kind = ""] = kinds.filter((each) => node.has(each));
  must(kind === "labels" ? !domain.isProduct : kind === "numbers" && !!domain.stretch, "outputs: not of a kind for this mechanism and domain");
  return kind === "labels" ? node.at(kind).labels() : node.at(kind).ascending();
}
