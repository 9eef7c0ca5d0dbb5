import type { Domain } from "./domain.js";
import type { Node } from "./json.js";
import { named } from "./labels.js";
import { numbered } from "./line.js";

export function circle(node: Node): Domain {
  const size = node.at("size").whole(2, 2 ** 31);
  return {
    ...(node.has("labels") ? named(node, size) : numbered(node.at("start").whole(undefined, Number.MAX_SAFE_INTEGER - size + 1), size)),
    isCircle: true,
    // Twice the way around, less one backwards: of two equally far values the one before is nearer.
    distance(from, to) {
      const steps = (to - from + size) % size;
      return steps < size - steps ? 2 * steps : 2 * (size - steps) - 1;
    },
  };
}
