/** This spec is not drawn from, and why. */
export class SpecError extends Error {
  override name = "SpecError";
}

/** This value is not one of the domain. The message never holds the value: pages log errors. */
export class ValueError extends Error {
  override name = "ValueError";
}

/** Refuses the spec unless something holds. */
export function must(holds: boolean, why: string): asserts holds {
  if (!holds) throw new SpecError(why);
}
