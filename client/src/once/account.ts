import { addDecimals } from "../decimal.js";
import { type Drawn, type No, everything, isDrawn } from "./store.js";

/** What this device keeps for this origin, for the person to see. */
export interface Account {
  /** Every report that was drawn here: what was asked, under which spec (its hash), what it spent, and what is sent. */
  readonly drawn: readonly Drawn[];
  /** What was refused; without a question, a whole study. */
  readonly refused: readonly No[];
  /** For each study the exact sum of ε over its questions: `reportOnce` draws none that would bring it above `limits.study`. */
  readonly spent: ReadonlyMap<string, string>;
  /** The exact sum over all studies. */
  readonly total: string;
}

/** What was spent on this device, for each study and question. Cleared storage has forgotten it. */
export async function account(): Promise<Account> {
  const entries = await everything();
  const drawn = entries.filter(isDrawn);
  const spent = new Map<string, string>();
  for (const { study, epsilon } of drawn) spent.set(study, addDecimals([spent.get(study) ?? "0", epsilon]));
  return { drawn, refused: entries.filter((entry) => !isDrawn(entry)), spent, total: addDecimals(spent.values()) };
}
