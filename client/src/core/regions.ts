import type { Domain } from "./domain.js";
import { must } from "./errors.js";
import type { Node } from "./json.js";
import type { Mechanism } from "./mechanism.js";
import { count, extreme, keepAll, lottery, scan, sum } from "./tickets.js";
import { nearest } from "./window.js";

/**
 * Most tickets within the region of x: in `two-level` most of these near x; in `region-weighted` all points of the region
 * hold as many, and points of other regions what the region of x says instead of their own.
 */
export const regional =
  (isWeighted: boolean): Mechanism =>
  (spec, domain, within) => {
    const regions = regionsOf(spec.at("regions"), domain);
    const total = count(spec.at("total"));
    const draw = lottery(total);
    const lengths = regions.map((points) => points.length);
    const ms = isWeighted ? lengths : spec.at("m").list((m, r) => m.whole(1, (lengths[r] as number) - 1), regions.length);
    const shares = spec.at("tickets").list((node, r) => {
      const [length, m] = [lengths[r], ms[r]] as [number, number];
      const read = (name: string): number => count(node.at(name));
      if (isWeighted) return { length, m, near: read("own"), far: 0, outside: read("other") };
      return { length, m, near: read("near"), far: read("far"), outside: read("outside") };
    }, regions.length);
    type Share = (typeof shares)[number];
    must(isWeighted ? shares.length > 1 : sum(shares.map(({ length }) => length ** 2)) <= 2 ** 25, "regions: fewer than two, or too large");
    const others = (r: number): number[] => [...shares.keys()].filter((s) => s !== r);
    const outside = (r: number, s: number): number => (shares[isWeighted ? r : s] as Share).outside;

    // What is left of the total after equal shares goes to the first of the near points, one ticket each.
    const rests = shares.map(({ length, m, near, far }, r) => {
      const rest = total - sum([m * near, (length - m) * far, ...others(r).map((s) => (shares[s] as Share).length * outside(r, s))]);
      must(rest >= 0 && rest < m, "tickets: rows do not add up to the total");
      return rest;
    });
    const inside = (x: number, r: number): number[] => {
      const { m, near, far } = shares[r] as Share;
      const points = regions[r] as number[];
      const isNear = new Set(nearest(domain.distance, x, points, m));
      let rest = rests[r] as number;
      return points.map((y) => (isNear.has(y) ? near + Number(rest-- > 0) : far));
    };
    regions.forEach((points, r) => {
      const rows = points.slice(0, isWeighted ? 1 : undefined).map((x) => inside(x, r));
      const abroad = others(r).map((s) => outside(s, r));
      const range = abroad.length ? [extreme(abroad, Math.min), extreme(abroad, Math.max)] : [];
      points.forEach((_, i) => keepAll(within, [...rows.map((row) => row[i] as number), ...range]));
    });
    return (x, words) => {
      const r = regions.findIndex((points) => points.includes(x));
      const abroad = others(r).flatMap((s) => (regions[s] as number[]).map((y) => ({ y, tickets: outside(r, s) })));
      const at = scan([...inside(x, r), ...abroad.map(({ tickets }) => tickets)], draw(words));
      return domain.report(regions[r]?.[at] ?? (abroad[at - (shares[r] as Share).length]?.y as number));
    };
  };

/** The points of each region, ascending. */
function regionsOf(node: Node, { isSphere, size }: Domain): readonly (readonly number[])[] {
  must(!!isSphere, "domain: not points with haversine");
  const names = node.at("names").labels();
  node.must(names.length <= 4096, "more than 4096"); // a limit of ours: each is compared with each
  node.must(typeof names[0] === "string", "names are not strings");
  const regions: number[][] = names.map(() => []);
  node.at("labels").list((label, y) => regions[label.whole(0, names.length - 1)]?.push(y), size);
  node.must(regions.every((points) => points.length > 1), "one has fewer than two points");
  return regions;
}
