export { SpecError, ValueError } from "./errors.js";
export { parseRecord } from "./record.js";
export { type Limits, type Spec, capOf, draw, limit, parseSpec, specHash } from "./spec.js";
