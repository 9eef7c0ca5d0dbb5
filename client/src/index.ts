export { describe, epsilonOf, type Description } from "./describe.js";
export { account, type Account } from "./once/account.js";
export { NoReportError, type Reason } from "./once/errors.js";
export {
  askAgain,
  drawOnce,
  kept,
  privacyControl,
  refuse,
  type Consent,
  type Draw,
  type Envelope,
  type Kept,
  type Question,
} from "./once/once.js";
export type { Drawn, No } from "./once/store.js";
export type { Report } from "./report.js";
export { sendWithBeacon, sendWithFetch } from "./send.js";
export { RandomError, cryptoWords, fixedWords, type WordSource } from "./words.js";
