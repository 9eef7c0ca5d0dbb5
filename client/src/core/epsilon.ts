import { exceeds, fraction } from "../decimal.js";
import { must } from "./errors.js";

/** Whether a ≤ e^ε·b, by a fraction a little below e^ε. */
export type Bound = (a: number | bigint, b: number | bigint) => boolean;

/** ε is a string of plain digits. */
export const DECIMAL = /^(0|[1-9]\d*)(\.\d*[1-9])?$/;

/** Refuses ε of more than 20 digits, and outside 10⁻¹⁵ … 50. */
export function checkEpsilon(epsilon: string): void {
  must(epsilon.replace(".", "").replace(/^0+/, "").length <= 20, "epsilon: more than 20 digits");
  must(!exceeds(epsilon, "50") && !exceeds("0.000000000000001", epsilon), "epsilon: not from 10^-15 to 50");
}

/** The first 201 terms of e^ε as one fraction. */
export function boundOf(epsilon: string): Bound {
  const [p, q] = fraction(epsilon);
  let above = 1n;
  let below = 1n;
  for (let i = 200n; i; i -= 1n) {
    const common = q * i * below;
    above = common + p * above;
    below = common;
  }
  return (a, b) => BigInt(a) * below <= BigInt(b) * above;
}
