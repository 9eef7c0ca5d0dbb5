// The draw beside the vectors: what it does with values, words and what is not a spec.
import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { RandomError, SpecError, ValueError, draw, fixedWords, parseRecord, parseSpec, specHash } from "../../src/index.js";

afterEach(() => vi.unstubAllGlobals());

const golden = (name: string): string => readFileSync(new URL(`../../../tests/golden/${name}.json`, import.meta.url), "utf8");
const ages = golden("v1/ages-9e125d224edc");
const never = (): bigint => {
  throw new Error("a word was taken");
};

test("the examples of docs/draw.md, §4 and §7", () => {
  const spec = parseSpec(ages);
  expect(spec).toEqual({ hash: "9e125d224edc975991f0f94ed8063a11d23b4ad51bcd7f2dd45521d5319bf18a", epsilon: "1" });
  expect(specHash(JSON.stringify(JSON.parse(ages), null, 3))).toBe(spec.hash);
  expect(Object.isFrozen(spec)).toBe(true);
  expect(draw(spec, 18, fixedWords([0n, 419984364951052893n]))).toBe(19);
});

test("a word among the 2^64 mod W lowest products is spent and drawn again, the next one up is not", () => {
  // Three tickets: 2^64 mod 3 = 1, so that only the word 0 is redrawn.
  const spec = parseSpec(JSON.stringify({ bipartite: 2, mechanism: "grr", domain: { integers: [0, 1] }, epsilon: "1", tickets: { near: "2", far: "1" } }));
  expect(draw(spec, 0, fixedWords([0n, 0n, 2n ** 64n - 1n]))).toBe(1);
  expect(draw(spec, 0, fixedWords([1n]))).toBe(0);
  expect(() => draw(spec, 0, fixedWords([0n, 0n]))).toThrow(RandomError);
  // The product of 2·(2^64 + 1)/3 is 2 more than a multiple of 2^64; the word before it has a product just below.
  expect([0n, -1n].map((less) => draw(spec, 0, fixedWords([(2n ** 65n + 1n) / 3n + less])))).toEqual([1, 0]);
});

test("without crypto.getRandomValues nothing is drawn", () => {
  const spec = parseSpec(ages);
  for (const missing of [undefined, {}]) {
    vi.stubGlobal("crypto", missing);
    expect(() => draw(spec, 18)).toThrow(RandomError);
  }
});

test("Math.random takes no part", () => {
  vi.stubGlobal("Math", Object.create(Math, { random: { value: never } }));
  expect(draw(parseSpec(ages), 18)).toBeTypeOf("number");
});

test.each([
  ["v1/ages-9e125d224edc", ["18", 17, 91, 18.5, NaN, Infinity, null, undefined, [18], 18n, true], "not a whole number from 18 to 90"],
  ["v1/gradient_random-f9f230427e84", ["0", -1.1, 1.1, NaN, Infinity, null], "not a number from -1 to 1"],
  ["v1/hours-5195818f4b7a", [24, -1, 0.5, "0"], "not a whole number from 0 to 23"],
  ["v2/custom_words-d1a1c71671d4", ["Tea", "tea ", 0, "toString", undefined], "not one of the labels"],
  ["v1/pairs-772e152366cd", [7, [1], [1, 2, 3], { 0: 1, 1: 2, length: 2 }], "not a list of 2 values"],
  ["v1/pairs-772e152366cd", [[1, 10], ["1", 1]], "not a whole number from 0 to 9"],
])("values outside the domain of %s are refused before a word is taken", (name, values, message) => {
  const spec = parseSpec(golden(name));
  for (const value of values) {
    expect(() => draw(spec, value, never)).toThrow(ValueError);
    expect(() => draw(spec, value, never)).toThrow(new ValueError(message));
  }
});

test("−0 is 0", () => {
  const spec = parseSpec(golden("v1/hours-5195818f4b7a"));
  expect(draw(spec, -0, fixedWords([1n]))).toBe(draw(spec, 0, fixedWords([1n])));
});

test("only what was checked is drawn from", () => {
  const spec = parseSpec(ages);
  expect(() => draw({ ...spec }, 18, never)).toThrow(SpecError);
  expect(() => draw({ ...spec }, 18, never)).toThrow("not a spec that parseSpec or parseRecord gave");
});

const record = [["age", ages], ["__proto__", golden("v2/grr-8f8376685dc9")], ["toString", golden("v2/constant-a48aaded5dc3")]] as const;
const person = JSON.parse('{"toString": 5, "__proto__": 18, "age": 18}');

test("a record has every attribute by its name, its ε in all, and a hash of its own", () => {
  const spec = parseRecord(record);
  expect(spec.epsilon).toBe("2");
  expect(spec.hash).toBe(specHash(JSON.stringify({ record: record.map(([name, text]) => [name, specHash(text)]), sample: null })));
  expect(JSON.stringify(draw(spec, person, fixedWords([1n, 1n, 1n])))).toBe('{"age":18,"__proto__":18,"toString":500000000}');
});

test("a sample reports the drawn set, in lexicographic order, and draws the others all the same", () => {
  const spec = parseRecord(record, 2);
  expect(spec.epsilon).toBe("2");
  const sets = [0n, 1n, 2n].map((c) => Object.keys(draw(spec, person, fixedWords([(c * 2n ** 64n) / 3n + 1n, 1n, 1n, 1n])) as object));
  expect(sets).toEqual([["age", "__proto__"], ["age", "toString"], ["__proto__", "toString"]]);
});

test.each([null, undefined, 5, {}, { age: 18 }, { ...JSON.parse('{"toString": 5, "__proto__": 18, "age": 18, "more": 1}') }])(
  "a record needs one value for each attribute (%o)",
  (value) => {
    expect(() => draw(parseRecord(record), value, never)).toThrow(new ValueError("not an object with one value for each attribute"));
  },
);

test("a record refuses a value before it draws any", () => {
  expect(() => draw(parseRecord(record), { ...person, age: 17 }, never)).toThrow(ValueError);
});

// Two tickets to one, and ε a little above ln 2: all tickets are tried.
const small = (more: object): object => ({ epsilon: "0.6931472", tickets: { near: "2", far: "1" }, ...more });
const brr = { bipartite: 1, mechanism: "brr", m: 3, edges: "clamped" };
const ranks = [[0, 1, 1, 2, 3], [1, 0, 1, 2, 3], [0, 0, 0, 0, 0], [3, 2, 1, 0, 1], [4, 3, 2, 1, 1]];

test.each([
  ["GRR", { bipartite: 2, mechanism: "grr", domain: { integers: [0, 4] } }, 6, [[2, 1, 1, 1, 1], [1, 2, 1, 1, 1], [1, 1, 2, 1, 1], [1, 1, 1, 2, 1], [1, 1, 1, 1, 2]]],
  ["BRR on a line", { ...brr, domain: { integers: [0, 4] } }, 8, [[2, 2, 2, 1, 1], [2, 2, 2, 1, 1], [1, 2, 2, 2, 1], [1, 1, 2, 2, 2], [1, 1, 2, 2, 2]]],
  ["BRR with even m", { ...brr, m: 2, domain: { integers: [0, 4] } }, 7, [[2, 2, 1, 1, 1], [2, 2, 1, 1, 1], [1, 2, 2, 1, 1], [1, 1, 2, 2, 1], [1, 1, 1, 2, 2]]],
  ["BRR on a circle", { ...brr, domain: { cyclic: { size: 5, start: 0 } } }, 8, [[2, 2, 1, 1, 2], [2, 2, 2, 1, 1], [1, 2, 2, 2, 1], [1, 1, 2, 2, 2], [2, 1, 1, 2, 2]]],
  ["BRR on items", { ...brr, draw: "list", domain: { items: { ranks } } }, 8, [[2, 2, 2, 1, 1], [2, 2, 2, 1, 1], [2, 2, 2, 1, 1], [1, 1, 2, 2, 2], [1, 1, 2, 2, 2]]],
  ["Anchored", { bipartite: 2, mechanism: "anchored", domain: { integers: [0, 4] }, anchors: [0, 2, 3] }, 4, [[2, 0, 1, 1], [2, 0, 1, 1], [1, 0, 2, 1], [1, 0, 1, 2], [1, 0, 1, 2]]],
])("of all tickets each value holds those that it should: %s", (_name, more, total, law) => {
  const spec = parseSpec(JSON.stringify(small(more)));
  const words = Array.from({ length: total }, (_, u) => (BigInt(u) * 2n ** 64n) / BigInt(total) + 2n);
  law.forEach((row, x) => {
    const held = row.map(() => 0);
    for (const word of words) held[draw(spec, x, fixedWords([word])) as number]! += 1;
    expect(held).toEqual(row);
  });
});
