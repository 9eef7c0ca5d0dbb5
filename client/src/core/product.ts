import { type Domain, domainOf } from "./domain.js";
import { ValueError } from "./errors.js";
import type { Node } from "./json.js";
import { div, extreme, sum } from "./tickets.js";

/** Several domains as one: an index counts the last part fastest. */
export function product(node: Node): Domain {
  const parts = node.at("parts").list(domainOf);
  const many = parts.length;
  node.must(many > 1 && parts.every((part) => !part.isProduct && !part.round), "fewer than two parts, or one is a product or rounded at random");
  node.must(node.at("weights").list((weight) => weight.number() > 0, many).every(Boolean), "weights are not positive");
  node.at("bits").whole(-1100, 1100);
  const size = parts.reduce((all, part) => all * part.size, 1);
  node.must(size <= 2 ** 31, "more than 2^31 values");
  const losses = node.at("losses").list((loss, p) => lossOf(loss, parts[p] as Domain), many);
  const lines = parts.every((part) => part.stretch);
  node.must(sum(losses.map(({ most }) => most)) < (lines ? 2 ** 53 : 2 ** 31), "losses are too large");
  const split = (index: number): number[] => {
    let rest = index;
    return parts.reduceRight<number[]>((at, part) => {
      at.unshift(rest % part.size);
      rest = div(rest, part.size);
      return at;
    }, []);
  };
  return {
    size,
    isProduct: true,
    comparable: lines ? 131072 : 8192,
    place(value) {
      if (!Array.isArray(value) || value.length !== many) throw new ValueError(`not a list of ${many} values`);
      return parts.reduce((index, part, p) => index * part.size + part.place(value[p]), 0);
    },
    report: (index) => split(index).map((at, p) => (parts[p] as Domain).report(at)),
    distance(from, to) {
      const ends = split(to);
      return sum(split(from).map((at, p) => losses[p]?.of(at, ends[p] as number) as number));
    },
  };
}

interface Loss {
  readonly most: number;
  readonly of: (from: number, to: number) => number;
}

function lossOf(node: Node, { stretch, size, distance }: Domain): Loss {
  if (stretch) {
    const step = node.whole(1);
    return { most: step * (size - 1), of: (from, to) => step * distance(from, to) };
  }
  const matrix = node.square(size);
  return { most: extreme(matrix.map((row) => extreme(row, Math.max)), Math.max), of: (from, to) => matrix[from]?.[to] as number };
}
