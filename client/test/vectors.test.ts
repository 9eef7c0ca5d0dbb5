import { readFileSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { SpecError, specHash } from "../src/index.js";
import { readCases } from "./files.js";
import { drawn, isRefused, specOf } from "./vectors.js";

const cases = readCases();
const groups = new Map<string, typeof cases>();
for (const each of cases) {
  const key = JSON.stringify(each.spec);
  groups.set(key, [...(groups.get(key) ?? []), each]);
}

test("there are vectors of every file", () => {
  const files = new Set(cases.map(({ name }) => name.split(",")[0]));
  expect([...files]).toEqual(expect.arrayContaining(["chosen", "circles", "drawn", "line", "products", "records", "sets", "tables"]));
  expect(cases.length).toBeGreaterThan(2500);
});

test.each([...groups.values()].map((group) => [group[0]?.name ?? "", group] as const))("reports from %s on", (_name, group) => {
  const [first] = group;
  if (!first) return;
  if (isRefused(first)) {
    expect(() => specOf(first)).toThrow(SpecError);
    return;
  }
  const spec = specOf(first);
  if (first.hash) expect(spec.hash).toBe(first.hash);
  for (const each of group) expect(drawn(each, spec), each.name).toEqual(each.report);
});

const golden = new URL("../../tests/golden/", import.meta.url);
const published = readdirSync(golden).flatMap((version) =>
  readdirSync(new URL(`${version}/`, golden)).map((name) => [`${version}/${name}`, readFileSync(new URL(`${version}/${name}`, golden), "utf8")] as const),
);

test.each(published)("%s has the hash of its name", (name, text) => {
  expect(name).toContain(`-${specHash(text).slice(0, 12)}.json`);
});
