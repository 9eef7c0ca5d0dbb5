import { expect, test } from "vitest";
import { SpecError } from "../src/core/errors.js";
import { addDecimals } from "../src/decimal.js";
import { describe, epsilonOf } from "../src/describe.js";

test.each([
  ["0.1", "1.11", "53"], // e^0.1 = 1.10517…, 1.10517 / 2.10517 = 0.52498
  ["1", "2.72", "74"], // 2.71828…, 0.73106
  ["2", "7.39", "89"], // 7.38906…, 0.88080
  ["4", "54.6", "99"], // 54.598…, 0.98201
  ["5", "149", "more than 99"], // 148.413…, 0.99331
  ["10", "22,100", "more than 99"], // 22026.47
])("ε = %s in words, rounded up", (epsilon, times, sure) => {
  const said = describe({ epsilon });
  expect(said).toMatchObject({ epsilon, times, sure });
  expect(said.text).toContain(`at most ${times} times as likely`);
  expect(said.text).toContain(`${sure} % sure`);
  expect(epsilonOf({ epsilon })).toBe(epsilon);
});

test("ε at the ends of what is described", () => {
  expect(describe({ epsilon: "0" })).toMatchObject({ times: "1", sure: "50" });
  expect(describe({ epsilon: "0.000000000000001" })).toMatchObject({ times: "1.01", sure: "51" });
  expect(describe({ epsilon: "700" }).times).toMatch(/^10,200(,000)+$/);
});

test.each(["abc", "", " 1", "-1", "1e-3", "Infinity", "NaN", "701", "0.0000000000000009", 1, undefined, ["1"]])("%o is no ε to describe", (epsilon) => {
  for (const say of [describe, epsilonOf]) {
    expect(() => say({ epsilon } as never)).toThrow(new SpecError("epsilon: not a decimal in plain digits, 0 or from 10^-15 to 700"));
  }
});

test.each([
  [[], "0"],
  [["1"], "1"],
  [["0.1", "0.2"], "0.3"], // 0.30000000000000004 in floats
  [["0.5", "0.5"], "1"],
  [["1", "0.00000000000000000001", "2.5"], "3.50000000000000000001"],
  [["10", "20"], "30"],
  [["0.10"], "0.1"],
])("the sum of %o is %s, exactly", (decimals, sum) => {
  expect(addDecimals(decimals)).toBe(sum);
});

test.each(["", "1e-3", "-1", "one", ".5", "1."])("%o is no decimal in plain digits", (text) => {
  expect(() => addDecimals([text])).toThrow(`not a decimal in plain digits: "${text}"`);
});
