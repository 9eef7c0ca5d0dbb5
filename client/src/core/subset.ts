import { below, bitsOf, few, grid, has, hex, put } from "./bits.js";
import type { Mechanism } from "./mechanism.js";
import { div, lottery, nearFar } from "./tickets.js";

/** Subset selection: a set of exactly k values, which holds the true one more often. */
export const subsetSelection: Mechanism = (spec, { size }, within) => {
  few(size);
  const k = spec.at("k").whole(1, size - 1);
  const { near, far } = nearFar(spec.at("tickets"), within);
  const draw = lottery(k * near + (size - k) * far);
  // A first set of about k values, by six bits for each; rounds then add or remove values until there are k.
  const deviation = Math.floor(Math.sqrt(div(k * (size - k), size)));
  const share = div(Math.max(0, k - div(7 * deviation, 10)) * 64, size);
  const bits = size <= 4096 ? 16 : 32;
  const missing = k - div(size * share, 64) + deviation + 3;
  const length = Math.min(256, Math.ceil(((div(missing * size, size - k) + 1) * bits) / 64));
  const places = Math.ceil(size / 64);
  return (x, words) => {
    const included = draw(words) < k * near;
    const rows = grid(6, places, words);
    const set = bitsOf(BigUint64Array.from({ length: places }, (_, p) => below(BigInt(share), 5, rows(p))[0]), size);
    put(set, x, false);
    let lacking = k - Number(included);
    for (let v = 0; v < size; v += 1) lacking -= Number(has(set, v));
    put(set, x, lacking > 0); // for the time being, so that it is not added
    do {
      const numbers = Array.from({ length }, () => words()).flatMap((word) =>
        Array.from({ length: 64 / bits }, (_, i) => Number(BigInt.asUintN(bits, word >> BigInt(i * bits)))),
      );
      for (const number of numbers) {
        const y = div(number * size, 2 ** bits);
        if ((number * size) % 2 ** bits < 2 ** bits % size || !lacking || has(set, y) === lacking > 0) continue;
        put(set, y, lacking > 0);
        lacking -= Math.sign(lacking);
      }
    } while (lacking);
    put(set, x, included);
    return hex(set);
  };
};
