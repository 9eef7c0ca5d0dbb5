import { must } from "./errors.js";
import type { Mechanism } from "./mechanism.js";
import { div, isPower, lottery, nearFar } from "./tickets.js";

/** Hadamard Response: near are the columns of a block in which the row of the value has a 1. */
export const hadamardResponse: Mechanism = (spec, { size }, within) => {
  const blocks = spec.at("blocks").whole(1);
  const width = spec.at("block-size").whole(2);
  must(isPower(blocks) && isPower(width), "blocks: not powers of two");
  must(size <= 2 ** 24 && blocks * (width - 1) >= size && blocks * width < 2 ** 32, "blocks: too few for the domain, or too many");
  const { near, far } = nearFar(spec.at("tickets"), within);
  const half = width / 2;
  const draw = lottery(half * near + (blocks * width - half) * far);
  return (x, words) => {
    const u = draw(words);
    const start = div(x, width - 1) * width;
    const row = (x % (width - 1)) + 1;
    const lowest = row & -row;
    const isNear = u < half * near;
    const j = isNear ? div(u, near) : div(u - half * near, far);
    if (!isNear && j >= half) return j - half < start ? j - half : j - half + width;
    const z = div(j, lowest) * 2 * lowest + (j % lowest);
    let odd = false;
    for (let ones = z & row; ones; ones &= ones - 1) odd = !odd;
    return start + z + (odd === isNear ? lowest : 0);
  };
};
