import type { Domain } from "./domain.js";
import { ValueError } from "./errors.js";
import type { Node } from "./json.js";
import { numbered } from "./line.js";

/** Values with labels or, without them, row numbers. */
export function named(node: Node, size: number): Pick<Domain, "size" | "place" | "report"> {
  if (!node.has("labels")) return numbered(0, size);
  const labels = node.at("labels").labels(size);
  const index = new Map<unknown, number>(labels.map((label, i) => [label, i]));
  return {
    size,
    place(value) {
      const found = index.get(value);
      if (found === undefined) throw new ValueError("not one of the labels");
      return found;
    },
    report: (i) => labels[i] as string | number,
  };
}
