import type { WordSource } from "../words.js";
import { comparable } from "./flat.js";
import type { Mechanism } from "./mechanism.js";
import { type Tickets, div, lottery, nearFar } from "./tickets.js";

/** Draws one of some outputs: m of them, from `first` on, hold near tickets, the others far ones. */
export function windowed(outputs: number, m: number, { near, far }: Tickets): (first: number, words: WordSource) => number {
  const inside = m * near;
  const draw = lottery(inside + (outputs - m) * far);
  return (first, words) => {
    const u = draw(words);
    if (u < inside) return first + div(u, near);
    const j = div(u - inside, far);
    return j < first ? j : j + m;
  };
}

/** BRR: the m values nearest to the true one hold near tickets. */
export const brr: Mechanism = (spec, domain, within) => {
  const { size, stretch, report, isCircle } = domain;
  const padded = spec.at("edges").choice("clamped", ...(stretch ? ["padded"] : [])) === "padded";
  const m = spec.at("m").whole(1, padded ? 2 ** 31 - 1 : size - 1);
  const tickets = nearFar(spec.at("tickets"), within);
  const half = div(m, 2);
  if (padded) {
    spec.must(m % 2 === 1, "m is not odd, with padded edges");
    stretch?.(half);
  }
  const draw = windowed(padded ? size + 2 * half : size, m, tickets);
  if (padded) return (x, words) => report(draw(x, words) - half);
  if (stretch) return (x, words) => report(draw(Math.min(Math.max(x - half, 0), size - m), words));
  if (isCircle) return (x, words) => report((x - half + draw(0, words) + size) % size);

  comparable(domain);
  const all = Array.from({ length: size }, (_, y) => y);
  const tried = lottery(size * tickets.near);
  const byTries = spec.at("draw").choice("tries", "list") === "tries";
  return (x, words) => {
    const near = nearest(domain.distance, x, all, m);
    const isNear = new Set(near);
    if (!byTries) {
      const k = draw(0, words);
      return report((k < m ? near[k] : all.filter((y) => !isNear.has(y))[k - m]) as number);
    }
    for (;;) {
      const u = tried(words);
      const y = div(u, tickets.near);
      if (isNear.has(y) || u % tickets.near < tickets.far) return report(y);
    }
  };
};

/** The m of some candidates nearest to x, ascending: x before others as near, then the lower index (sorting is stable). */
export function nearest(distance: (from: number, to: number) => number, x: number, candidates: readonly number[], m: number): number[] {
  return candidates
    .map((y) => ({ y, far: distance(x, y) }))
    .sort((one, other) => one.far - other.far || Number(other.y === x) - Number(one.y === x))
    .slice(0, m)
    .map(({ y }) => y)
    .sort((one, other) => one - other);
}
