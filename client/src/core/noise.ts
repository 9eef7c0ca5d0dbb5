import { must } from "./errors.js";
import type { Mechanism } from "./mechanism.js";
import { count, keep, lottery, sum } from "./tickets.js";

/** Added noise: one row of tickets, by the size of the shift, serves every value. */
export const noise =
  (isPadded: boolean, hasGamma = false): Mechanism =>
  (spec, domain, within) => {
    must(!!(isPadded ? domain.ends : domain.stretch), "domain: not one for this mechanism");
    if (hasGamma) must(Math.abs(spec.at("gamma").number() - 0.5) <= 0.5, "gamma: not from 0 to 1");
    const padding = isPadded ? spec.at("padding").whole(0, 2 ** 22) : 0;
    domain.stretch?.(padding);
    const last = domain.size - 1;
    const top = last + padding;
    must(top <= 2 ** 22, "noise: too many shifts");
    const row = spec.at("noise").list(count, top + 1);
    const at = (shift: number): number => row[Math.abs(shift)] as number;
    for (let z = 1; z < top; z += 1) must(at(z) <= at(z - 1), "noise: not descending");
    const draw = lottery(2 * sum(row) - at(0));
    // Both ends gather what is beyond them. Between them, columns of y and of its mirror image are the same.
    keep(within, sum(row.slice(padding)), at(top));
    for (let y = 1 - padding; 2 * y <= last && y < top; y += 1) keep(within, at(Math.max(0, -y)), at(last - y));
    return (x, words) => {
      let left = draw(words);
      let z = -top;
      for (; left >= at(z); z += 1) left -= at(z);
      return domain.report(Math.min(Math.max(x + z, -padding), top));
    };
  };
