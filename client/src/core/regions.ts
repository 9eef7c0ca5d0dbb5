import type { Domain } from "./domain.js";
import { must } from "./errors.js";
import type { Node } from "./json.js";
import type { Mechanism } from "./mechanism.js";
import { count, keepAll, lottery, scan, sum } from "./tickets.js";
import { nearest } from "./window.js";

/**
 * Most tickets within the region of x: in `two-level` most of these near x; in `region-weighted` all points of the region
 * hold as many, and points of other regions what the region of x says instead of their own.
 */
export const regional =
  (isWeighted: boolean): Mechanism =>
  (spec, domain, within) => {
    const regions = regionsOf(spec.at("regions"), domain);
    const many = regions.length;
    must(isWeighted ? many > 1 : sum(regions.map(({ length }) => length ** 2)) <= 2 ** 25, "regions: fewer than two, or too large");
    const total = count(spec.at("total"));
    const draw = lottery(total);
    const shares = spec.at("tickets").list(many).map((node, r) => {
      const length = (regions[r] as number[]).length;
      const read = (name: string): number => count(node.at(name));
      if (isWeighted) return { m: length, near: read("own"), far: 0, outside: read("other") };
      const m = (spec.at("m").list(many)[r] as Node).whole(1, length - 1);
      return { m, near: read("near"), far: read("far"), outside: read("outside") };
    });
    const outside = (r: number, s: number): number => (shares[isWeighted ? r : s] as (typeof shares)[number]).outside;

    /** The points in the order of a draw in region r: its own, then all others by region. */
    const layout = (r: number): (readonly [y: number, region: number])[] =>
      [r, ...regions.keys()].flatMap((s, i) => (i && s === r ? [] : (regions[s] as number[]).map((y) => [y, s] as const)));
    /** What is left of the total after equal shares goes to the first of the near points, one ticket each. */
    const row = (x: number, r: number): number[] => {
      const points = layout(r);
      const { m, near, far } = shares[r] as (typeof shares)[number];
      const isNear = new Set(nearest(domain.distance, x, regions[r] as number[], m));
      const tickets = points.map(([y, s]) => (s !== r ? outside(r, s) : isNear.has(y) ? near : far));
      let left = total - sum(tickets);
      must(left >= 0 && left < m, "tickets: rows do not add up to the total");
      return tickets.map((each, i) => each + Number(isNear.has(points[i]?.[0] as number) && left-- > 0));
    };
    regions.forEach((points, r) => {
      const rows = points.slice(0, isWeighted ? 1 : undefined).map((x) => row(x, r));
      const others = shares.flatMap((_, s) => (s === r ? [] : outside(s, r)));
      points.forEach((_, i) => keepAll(within, [...rows.map((each) => each[i] as number), ...others]));
    });
    return (x, words) => {
      const r = regions.findIndex((points) => points.includes(x));
      return domain.report(layout(r)[scan(row(x, r), draw(words))]?.[0] as number);
    };
  };

/** The points of each region, ascending. */
function regionsOf(node: Node, { isSphere, size }: Domain): readonly (readonly number[])[] {
  must(!!isSphere, "domain: not points with haversine");
  const names = node.at("names").labels();
  node.must(typeof names[0] === "string", "names are not strings");
  const regions: number[][] = names.map(() => []);
  node.at("labels").list(size).forEach((label, y) => regions[label.whole(0, names.length - 1)]?.push(y));
  node.must(regions.every((points) => points.length > 1), "one has fewer than two points");
  return regions;
}
