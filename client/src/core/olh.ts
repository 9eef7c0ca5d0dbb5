import { flat } from "./flat.js";
import type { Mechanism } from "./mechanism.js";
import { div, lottery } from "./tickets.js";

/** OLH: a hash function, linear in the digits of the value, and a noisy hash. */
export const olh: Mechanism = (spec, { size }, within) => {
  const buckets = spec.at("buckets").whole(2, 2 ** 15);
  const draw = flat(spec.at("tickets"), buckets, within);
  let base = 2;
  while (buckets % base) base += 1;
  let digits = 1;
  for (let power = base; power < size; power *= base) digits += 1;
  let most = 1;
  while (buckets ** (most + 1) <= 2 ** 52) most += 1;
  const seeds: { readonly draw: ReturnType<typeof lottery>; readonly length: number }[] = [];
  for (let left = digits; left > 0; left -= most) {
    const length = Math.min(left, most);
    seeds.push({ draw: lottery(buckets ** length), length });
  }
  return (x, words) => {
    let rest = x;
    let hash = 0;
    const report = seeds.map((seed) => {
      const factors = seed.draw(words);
      for (let i = 0, left = factors; i < seed.length; i += 1) {
        hash += (left % buckets) * (rest % base);
        left = div(left, buckets);
        rest = div(rest, base);
      }
      return factors;
    });
    report.push(draw(hash % buckets, words));
    return `x${report.map((number) => number.toString(16).padStart(16, "0")).join("")}`;
  };
};
