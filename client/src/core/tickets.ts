import type { WordSource } from "../words.js";
import type { Bound } from "./epsilon.js";
import { must } from "./errors.js";
import type { Node } from "./json.js";

// Counts and totals are at most 2⁵², so that doubles hold them and their sums exactly. A sum or product that is larger
// may be rounded, but never to 2⁵² or less: rounding keeps the order.
const MOST = 2 ** 52;

/** How many tickets: a string of digits. */
export function count(node: Node): number {
  const tickets = Number(node.string(/^[1-9]\d{0,15}$/, "a count of tickets"));
  node.must(tickets <= MOST, "more than 2^52 tickets");
  return tickets;
}

/** Draws a ticket, 0 … total − 1, exactly uniform (Lemire 2019). */
export function lottery(total: number): (words: WordSource) => number {
  must(total <= MOST, "more than 2^52 tickets in all");
  const tickets = BigInt(total);
  const redrawn = 0x1_0000_0000_0000_0000n % tickets;
  return (words) => {
    for (;;) {
      const product = words() * tickets;
      if (BigInt.asUintN(64, product) >= redrawn) return Number(product >> 64n);
    }
  };
}

export interface Tickets {
  readonly near: number;
  readonly far: number;
}

/** Tickets with far ≤ near ≤ e^ε·far. */
export function readTickets(node: Node, within: Bound): Tickets {
  const tickets = { near: count(node.at("near")), far: count(node.at("far")) };
  node.must(tickets.near >= tickets.far, "near is less than far");
  keep(within, tickets.near, tickets.far);
  return tickets;
}

/** Tickets as most mechanisms have them: near > far, and far a power of two. */
export function nearFar(node: Node, within: Bound): Tickets {
  const tickets = readTickets(node, within);
  node.must(tickets.near > tickets.far && isPower(tickets.far), "near is not more than far, or far is not a power of two");
  return tickets;
}

/** Refuses what gives away more than ε. */
export function keep(within: Bound, most: number | bigint, least: number | bigint): void {
  must(within(most, least), "one value makes a report more than e^ε times as likely as another");
}

/** One report, and how many tickets for it each value holds. */
export const keepAll = (within: Bound, column: readonly number[]): void => keep(within, extreme(column, Math.max), extreme(column, Math.min));

/** The largest or the smallest of numbers, however many. */
export const extreme = (numbers: readonly number[], of: (a: number, b: number) => number): number => numbers.reduce((a, b) => of(a, b));

export const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

export const isPower = (number: number): boolean => /^10*$/.test(number.toString(2));

/** Floored quotient, exact below 2⁵³. */
export const div = (a: number, b: number): number => (a - (a % b)) / b;

/** The place of ticket u where place y holds row[y] tickets. */
export function scan(row: readonly number[], u: number): number {
  let y = 0;
  for (let left = u; left >= (row[y] as number); y += 1) left -= row[y] as number;
  return y;
}
