import type { Domain } from "./domain.js";
import { ValueError, must } from "./errors.js";
import type { Node } from "./json.js";
import { extreme } from "./tickets.js";

const apart = (from: number, to: number): number => Math.abs(from - to);

export function integers(node: Node): Domain {
  const [low, high] = node.at("integers").list((end) => end.whole(), 2) as [number, number];
  must(low < high && high - low < 2 ** 31, "integers: not ascending, or more than 2^31");
  return {
    ...numbered(low, high - low + 1),
    stretch(steps) {
      must(Number.isSafeInteger(low - steps) && Number.isSafeInteger(high + steps), "integers: reports are not exact");
    },
    distance: apart,
  };
}

/** Whole numbers from `start` on. */
export const numbered = (start: number, size: number): Pick<Domain, "size" | "place" | "report"> => ({
  size,
  place(value) {
    const index = Number.isInteger(value) ? (value as number) - start : -1;
    if (index < 0 || index >= size) throw new ValueError(`not a whole number from ${start} to ${start + size - 1}`);
    return index;
  },
  report: (index) => start + index,
});

/** Nodes from low to high, at equal steps. All of it is in doubles, as written. */
export function interval(node: Node): Domain {
  const [low, high] = node.at("interval").list((end) => end.number(), 2) as [number, number];
  const size = node.at("points").whole(2, 2 ** 31);
  const nearest = node.at("rounding").choice("nearest", "random") === "nearest";
  must(low < high, "interval: not ascending");
  const at = (index: number): number => low + (index * (high - low)) / (size - 1);
  const stretch = (steps: number): void => {
    const largest = extreme([low, high, at(-steps), at(size - 1 + steps)].map(Math.abs), Math.max);
    must(largest < Infinity && (high - low) / (size - 1) >= 8 * ulp(largest), "interval: reports are too large or too close");
  };
  stretch(0);
  return {
    size,
    ends: [low, high],
    stretch,
    place(value) {
      if (typeof value !== "number" || !(value >= low && value <= high)) throw new ValueError(`not a number from ${low} to ${high}`);
      const t = ((value - low) * (size - 1)) / (high - low);
      return nearest ? Math.min(Math.floor(t + 0.5), size - 1) : t;
    },
    ...(!nearest && {
      round(t, words) {
        const index = Math.floor(t);
        const up = Number(words() >> 11n) < Math.floor((t - index) * 2 ** 53);
        return Math.min(up ? index + 1 : index, size - 1);
      },
    }),
    report: (index) => (index === size - 1 ? high : at(index)),
    distance: apart,
  };
}

/** The distance to the next larger double. */
function ulp(of: number): number {
  const double = new Float64Array([of]);
  const bits = new BigUint64Array(double.buffer);
  bits[0] = (bits[0] as bigint) + 1n;
  return (double[0] as number) - of;
}
