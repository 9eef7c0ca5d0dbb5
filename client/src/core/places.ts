import type { Domain } from "./domain.js";
import type { Node } from "./json.js";
import { named } from "./labels.js";
import { extreme, sum } from "./tickets.js";

/** Items with a rank of each by each. */
export function items(node: Node): Domain {
  const given = node.at("ranks");
  const size = given.length();
  given.must(size > 1, "fewer than two items");
  const ranks = given.square(size, size - 1);
  return { ...named(node, size), distance: (from, to) => ranks[from]?.[to] as number };
}

/** Points with whole coordinates. A distance is a whole number below 2⁵³, never a square root or an angle. */
export function points(node: Node): Domain {
  const metric = node.at("metric").choice("euclidean", "manhattan", "haversine");
  const isSphere = metric === "haversine";
  const given = node.at("vectors");
  let width = isSphere ? 3 : 0;
  const vectors = given.list((row) => row.wholes((width ||= row.length())));
  given.must(vectors.length > 1, "fewer than two points");
  const size = (lengths: readonly number[]): number => sum(lengths.map((length) => (metric === "manhattan" ? Math.abs(length) : length * length)));
  if (isSphere) {
    given.must(
      vectors.every((vector) => size(vector) >= (2 ** 25 - 1) ** 2 && size(vector) <= (2 ** 25 + 1) ** 2),
      "not on the sphere",
    );
  } else {
    node.at("bits").whole(-500, 900);
    const widths = (vectors[0] as number[]).map((_, j) => {
      const column = vectors.map((vector) => vector[j] as number);
      return extreme(column, Math.max) - extreme(column, Math.min);
    });
    given.must(size(widths) < 2 ** 53, "too far apart");
  }
  return {
    ...named(node, vectors.length),
    isSphere,
    distance: (from, to) => size((vectors[from] as number[]).map((entry, j) => entry - (vectors[to]?.[j] as number))),
  };
}
