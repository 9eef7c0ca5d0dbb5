import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import { beforeEach, expect, test, vi } from "vitest";
import laws from "../browsers/laws.json" with { type: "json" };
import demo from "../demo/data.json" with { type: "json" };
import { SpecError, ValueError, account, kept, parseRecord, parseSpec, reportOnce } from "../src/index.js";

const spec = demo.specs.town["1"];
const town = { study: "readers", question: "town", spec };
const yes = { consent: true } as const;

beforeEach(() => {
  vi.stubGlobal("indexedDB", new IDBFactory());
  vi.stubGlobal("IDBKeyRange", IDBKeyRange);
  vi.stubGlobal("navigator", {});
});

test("a report of the domain, under the hash of the spec, and the same for another answer", async () => {
  const { envelope, body, epsilon } = await reportOnce(town, "Vienna", yes);
  expect(demo.towns.map(([name]) => name)).toContain(envelope.report);
  expect(envelope.spec).toBe(parseSpec(spec).hash);
  expect(epsilon).toBe("1");
  expect((await reportOnce(town, "Lisbon", yes)).body).toBe(body);
  expect((await reportOnce({ ...town, spec: parseSpec(spec) }, "not a town", yes)).body).toBe(body);
});

test("a value outside the domain is not drawn from, and not told", async () => {
  const failure = await reportOnce(town, "Atlantis", yes).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ValueError);
  expect(String(failure) + JSON.stringify(failure)).not.toContain("Atlantis");
  expect(await kept(town)).toBeUndefined();
});

test("a spec that does not keep its ε is not drawn from", async () => {
  const forged = spec.replace('"epsilon":"1"', '"epsilon":"0.5"');
  await expect(reportOnce({ ...town, spec: forged }, "Vienna", yes)).rejects.toThrow(SpecError);
  await expect(reportOnce(town, "Vienna", yes, { epsilon: "0.9" })).rejects.toThrow(SpecError);
  expect(await kept(town)).toBeUndefined();
});

test("a limit holds for a spec that was parsed without it", async () => {
  const parsed = { ...town, spec: parseSpec(spec) };
  await expect(reportOnce(parsed, "Vienna", yes, { epsilon: "0.9" })).rejects.toThrow("ε is 1, and this client draws at 0.9 at most");
  expect(await kept(town)).toBeUndefined();
  expect((await reportOnce(parsed, "Vienna", yes, { epsilon: "1" })).fresh).toBe(true);
});

test("a spec that was parsed under a larger limit is drawn from if its study has a larger one, too", async () => {
  const grr = { bipartite: 2, mechanism: "grr", domain: { integers: [0, 1] }, epsilon: "30", tickets: { near: "2", far: "1" } };
  const parsed = parseSpec(JSON.stringify(grr), { epsilon: "30" });
  const asked = { ...town, spec: parsed };
  await expect(reportOnce(asked, 0, yes)).rejects.toThrow("ε of this study would be 30 here, above 20");
  await expect(reportOnce(asked, 0, yes, { epsilon: "30" })).rejects.toMatchObject({ reason: "budget" });
  await expect(reportOnce(asked, 0, yes, { epsilon: "20", study: "30" })).rejects.toThrow(SpecError);
  expect((await reportOnce(asked, 0, yes, { epsilon: "30", study: "30" })).epsilon).toBe("30");
});

test("the limit of a study is its own word, a decimal in plain digits", async () => {
  const limited = (study: unknown): Promise<unknown> => reportOnce(town, "Vienna", yes, { epsilon: "1", study } as never);
  for (const study of [undefined, null, 1, "", "-1", "1e3", ".5", "0.50", "one", ["1"]]) {
    await expect(limited(study)).rejects.toThrow(new SpecError("the largest ε is not a decimal in plain digits"));
  }
  await expect(limited("0.99")).rejects.toMatchObject({ reason: "budget" });
  const inherited = Object.assign(Object.create({ study: "1000" }), { epsilon: "20" });
  for (let i = 0; i < 20; i += 1) await reportOnce({ ...town, question: `${i}` }, "Vienna", yes, inherited);
  await expect(reportOnce(town, "Vienna", yes, inherited)).rejects.toMatchObject({ reason: "budget" });
  expect((await account()).total).toBe("20");
});

test("nothing that is stored tells the answer, unless the report is the answer", async () => {
  for (let i = 0; i < 40; i += 1) await reportOnce({ ...town, question: `town ${i}` }, "Vienna", yes, { epsilon: "1", study: "40" });
  const { drawn, total } = await account();
  expect(total).toBe("40");
  const others = drawn.filter(({ body }) => JSON.parse(body).report !== "Vienna");
  expect(others.length).toBeGreaterThan(10); // each is another town with chance 0.94
  expect(JSON.stringify(others)).not.toContain("Vienna");
});

test("a record is one question with one report of several", async () => {
  const record = parseRecord([["age", laws[0]?.spec ?? ""], ["town", spec]]);
  const { envelope, epsilon } = await reportOnce({ ...town, question: "both", spec: record }, { age: 40, town: "Vienna" }, yes);
  expect(Object.keys(envelope.report as object)).toEqual(["age", "town"]);
  expect(epsilon).toBe("2");
});
