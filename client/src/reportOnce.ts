import { type Limits, type Spec, capOf, draw, limit, parseSpec } from "./core/index.js";
import { type Consent, type Kept, type Question, drawOnce } from "./once/once.js";

/** A question and the spec under which it is asked: its JSON text, or what `parseSpec` or `parseRecord` gave. */
export interface Asked extends Question {
  readonly spec: string | Spec;
}

/**
 * The one report of this question on this device. The spec is checked first (`SpecError`); a value outside its domain
 * is a `ValueError`. A report that is kept already is handed out again, and the value is not looked at. One that would
 * bring the study's sum of ε above its limit is not drawn.
 */
export async function reportOnce(asked: Asked, value: unknown, consent: Consent, limits?: Limits): Promise<Kept> {
  const spec = typeof asked.spec === "string" ? parseSpec(asked.spec, limits) : asked.spec;
  if (limits !== undefined) limit(spec.epsilon, limits); // it may have been parsed under another one
  return drawOnce(asked, { spec: spec.hash, epsilon: spec.epsilon, cap: capOf(limits), report: () => draw(spec, value) }, consent);
}
