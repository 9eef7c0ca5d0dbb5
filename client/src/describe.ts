import { DECIMAL } from "./core/epsilon.js";
import { must } from "./core/errors.js";

/** What ε means, in words and in odds. */
export interface Description {
  /** The exact decimal of the spec. */
  readonly epsilon: string;
  /** e^ε, rounded up to three digits: no answer makes a report more than this many times as likely as another does. */
  readonly times: string;
  /** How sure, in per cent and rounded up, somebody can be of one of two answers that were equally likely before. */
  readonly sure: string;
  /** Two sentences for the person who is asked. */
  readonly text: string;
}

/** The ε of one draw: all that it spends, an exact decimal. */
export function epsilonOf(spec: { readonly epsilon: string }): string {
  const { epsilon } = spec;
  const size = Number(epsilon);
  must(
    typeof epsilon === "string" && DECIMAL.test(epsilon) && (!size || (size >= 1e-15 && size <= 700)),
    "epsilon: not a decimal in plain digits, 0 or from 10^-15 to 700",
  );
  return epsilon;
}

/** ε in words. Floats do: nothing is drawn by these figures, and they are rounded up, never in our favour. */
export function describe(spec: { readonly epsilon: string }): Description {
  const epsilon = epsilonOf(spec);
  const ratio = Math.exp(Number(epsilon));
  const times = ceiling(ratio);
  const percent = 100 / (1 + 1 / ratio);
  const sure = percent > 99 ? "more than 99" : String(Math.ceil(percent));
  return {
    epsilon,
    times,
    sure,
    text:
      `Your neighbour, whatever their answer is, could have sent the same report: yours makes it at most ${times} times as likely. ` +
      `Somebody who finds two answers equally likely before they see it ${percent > 99 ? "can be" : "is at most"} ${sure} % sure of one of them after.`,
  };
}

/** Rounded up to three digits, in plain digits with commas. */
function ceiling(ratio: number): string {
  const unit = 10 ** Math.max(-2, Math.floor(Math.log10(ratio)) - 2);
  const up = Math.ceil(ratio / unit) * unit;
  return up.toLocaleString("en", { maximumFractionDigits: unit < 1 ? Math.round(-Math.log10(unit)) : 0 });
}
