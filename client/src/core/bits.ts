import type { Report } from "../report.js";
import type { WordSource } from "../words.js";
import type { Bound } from "./epsilon.js";
import { must } from "./errors.js";
import type { Node } from "./json.js";
import type { Mechanism } from "./mechanism.js";
import { keep } from "./tickets.js";

/** A set of values: value v is bit v mod 8 of byte v div 8. */
export type Bits = Uint8Array;

export const has = (bits: Bits, v: number): boolean => (((bits[v >> 3] as number) >> (v & 7)) & 1) === 1;

export function put(bits: Bits, v: number, present: boolean): void {
  if (has(bits, v) !== present) bits[v >> 3] = (bits[v >> 3] as number) ^ (1 << (v & 7));
}

export const hex = (bits: Bits): Report => `x${Array.from(bits, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;

const ALL = 0xffff_ffff_ffff_ffffn;

/** Rows of words, row after row; `at` gives the words of one column. */
export function grid(rows: number, width: number, words: WordSource): (at: number) => bigint[] {
  const taken = Array.from({ length: rows }, () => Array.from({ length: width }, () => words()));
  return (at) => taken.map((row) => row[at] as bigint);
}

/**
 * Compares many numbers with a threshold, from bit `top` down: row j holds the j-th of their bits. Of the numbers in
 * `asked`: which are less, and which are equal so far.
 */
export function below(threshold: bigint, top: number, rows: readonly bigint[], asked = ALL): [less: bigint, equal: bigint] {
  let less = 0n;
  let equal = asked;
  rows.forEach((row, j) => {
    if ((threshold >> BigInt(top - j)) & 1n) {
      less |= equal & ~row;
      equal &= row;
    } else {
      equal &= ~row;
    }
  });
  return [less, equal];
}

/** The first `size` bits of words, each from its least significant bit on. */
export function bitsOf(places: BigUint64Array, size: number): Bits {
  const view = new DataView(new ArrayBuffer(places.length * 8));
  places.forEach((place, p) => view.setBigUint64(8 * p, place, true));
  const bits = new Uint8Array(view.buffer, 0, Math.ceil(size / 8));
  if (size % 8) bits[bits.length - 1] = (bits.at(-1) as number) & ((1 << (size % 8)) - 1);
  return bits;
}

/** Bits that are 1 with probability chance/2⁶⁴ each; many share words, and few need all 64 bits of a number. */
function coins(chance: bigint, size: number, words: WordSource): Bits {
  const places = 32 * Math.ceil(size / 2048);
  const ones = new BigUint64Array(places);
  const open = new BigUint64Array(places);
  const served = new BigUint64Array(places);
  for (let start = 0; start < places; start += 1024) {
    const end = Math.min(start + 1024, places);
    const rows = grid(4, end - start, words);
    for (let place = start; place < end; place += 1) [ones[place], open[place]] = below(chance, 63, rows(place - start)) as [bigint, bigint];
    for (const fold of [8, 32]) {
      const width = (end - start) / fold;
      const shared = grid(6, width, words);
      for (let p = 0; p < width; p += 1) {
        const column = shared(p);
        let free = ALL;
        for (let place = start + p; place < end; place += width) {
          const asked = free & (open[place] as bigint) & ~(served[place] as bigint);
          const [less, equal] = below(chance, 59, column, asked);
          free &= ~asked;
          ones[place] = (ones[place] as bigint) | less;
          open[place] = ((open[place] as bigint) & ~asked) | equal;
          served[place] = (served[place] as bigint) | asked;
        }
      }
    }
  }
  open.forEach((ties, place) => {
    for (let bit = 1n; bit <= ties; bit <<= 1n) {
      if (!(ties & bit)) continue;
      const compared = (served[place] as bigint) & bit ? 10 : 4;
      if (words() >> BigInt(compared) < BigInt.asUintN(64 - compared, chance)) ones[place] = (ones[place] as bigint) | bit;
    }
  });
  return bitsOf(ones, size);
}

interface Chances {
  readonly one: bigint;
  readonly zero: bigint;
}

function chancesOf(node: Node): Chances {
  const chance = (name: string): bigint => BigInt(node.at(name).string(/^[1-9]\d{0,19}$/, "a chance"));
  const one = chance("one");
  const zero = chance("zero");
  node.must(zero < one && one <= ALL, "one is not more than zero, or too large");
  return { one, zero };
}

/** Refuses chances whose odds differ by more than e^ε between two values. */
function keepChances({ one, zero }: Chances, within: Bound): void {
  keep(within, one * (ALL + 1n - zero), zero * (ALL + 1n - one));
}

export function few(size: number): void {
  must(size <= 2 ** 18, "domain: more than 2^18 values");
}

/** One bit for each value. */
function unary({ one, zero }: Chances, size: number, x: number, words: WordSource): Bits {
  const own = words() < one;
  const bits = coins(zero, size, words);
  put(bits, x, own);
  return bits;
}

/** OUE, and SUE, which differs in its chances only. */
export const oue: Mechanism = (spec, { size }, within) => {
  few(size);
  const chances = chancesOf(spec.at("chances"));
  keepChances(chances, within);
  return (x, words) => hex(unary(chances, size, x, words));
};

/** The permanent response and one report from it, which is all that leaves the device. */
export const rappor: Mechanism = (spec, { size }, within) => {
  few(size);
  const permanent = chancesOf(spec.at("permanent"));
  const { one, zero } = chancesOf(spec.at("instantaneous"));
  keepChances(permanent, within);
  return (x, words) => {
    const response = unary(permanent, size, x, words);
    const ones = coins(one, size, words);
    const zeros = coins(zero, size, words);
    return hex(response.map((byte, i) => (byte & (ones[i] as number)) | (~byte & (zeros[i] as number))));
  };
};
