import { IDBFactory, IDBKeyRange, IDBObjectStore } from "fake-indexeddb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { account } from "../src/once/account.js";
import { type Draw, askAgain, drawOnce, kept, refuse } from "../src/once/once.js";

const age = { study: "readers", question: "age" };
const yes = { consent: true } as const;
let draws = 0;

/** A draw that is different every time, so that a second one would be seen. */
const drawing = (spec = "5bec", epsilon = "1", cap = "20"): Draw => ({ spec, epsilon, cap, report: () => (draws += 1) });

beforeEach(() => {
  draws = 0;
  vi.stubGlobal("indexedDB", new IDBFactory());
  vi.stubGlobal("IDBKeyRange", IDBKeyRange);
  vi.stubGlobal("navigator", {});
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "a report",
    (error: Error & { reason?: string }) => `${error.reason}: ${error.message}`,
  );

test("the first report is kept and handed out again, whatever is answered later", async () => {
  const first = await drawOnce(age, drawing(), yes);
  const again = await drawOnce(age, { ...drawing(), report: () => "another answer" }, yes);
  expect(first).toEqual({ ...again, fresh: true });
  expect(again.fresh).toBe(false);
  expect(first.envelope).toEqual({ v: 1, ...age, spec: "5bec", report: 1, key: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(JSON.parse(first.body)).toEqual(first.envelope);
  expect(await kept(age)).toEqual(again);
  expect(draws).toBe(1);
});

test("the text of the envelope has its members in this order", async () => {
  const { body, envelope } = await drawOnce(age, drawing(), yes);
  expect(body).toBe(`{"v":1,"study":"readers","question":"age","spec":"5bec","report":1,"key":"${envelope.key}"}`);
});

test("twenty calls at once make one draw", async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => drawOnce(age, drawing(), yes)));
  expect(new Set(all.map(({ body }) => body)).size).toBe(1);
  expect(all.filter(({ fresh }) => fresh)).toHaveLength(1);
  expect(draws).toBe(1);
});

test("under Web Locks too, one after another", async () => {
  let queue: Promise<unknown> = Promise.resolve();
  const request = vi.fn((_name: string, work: () => Promise<unknown>) => (queue = queue.then(work)));
  vi.stubGlobal("navigator", { locks: { request } });
  const all = await Promise.all([drawOnce(age, drawing(), yes), drawOnce(age, drawing(), yes)]);
  expect(all[0].body).toBe(all[1].body);
  expect(request.mock.calls.map(([name]) => name)).toEqual(["bipartite-report", "bipartite-report"]);
});

test("questions, studies and keys are apart; two forms of one name in Unicode are one", async () => {
  const bodies = [
    await drawOnce(age, drawing(), yes),
    await drawOnce({ ...age, question: "town" }, drawing(), yes),
    await drawOnce({ ...age, study: "caf\u00e9" }, drawing(), yes),
  ];
  expect(new Set(bodies.map(({ envelope }) => envelope.key)).size).toBe(3);
  expect((await drawOnce({ ...age, study: "cafe\u0301" }, drawing(), yes)).body).toBe(bodies[2]?.body);
  expect(draws).toBe(3);
});

test.each([undefined, null, true, {}, { consent: false }, { consent: "yes" }, Object.create(yes)])("without consent nothing is drawn (%o)", async (given) => {
  expect(await reasonOf(drawOnce(age, drawing(), given as never))).toBe(
    "consent: nothing is drawn before the person has agreed",
  );
  expect(draws).toBe(0);
});

test("what a page finds in every object is no consent, no question, and neither kept nor forgotten", async () => {
  const first = await drawOnce(age, drawing(), yes);
  await refuse({ study: "painters" });
  const everywhere = { consent: true, question: "town", body: "{}", keep: { study: "dancers" }, forget: age };
  Object.assign(Object.prototype, everywhere);
  try {
    expect(await reasonOf(drawOnce({ ...age, question: "town" }, drawing(), {} as never))).toContain("consent: ");
    await refuse({ study: "writers" });
    for (const study of ["writers", "painters"]) {
      expect(await reasonOf(drawOnce({ study, question: "age" }, drawing(), yes))).toContain("refused: ");
    }
    expect((await drawOnce(age, drawing(), yes)).body).toBe(first.body);
  } finally {
    for (const name of Object.keys(everywhere)) delete (Object.prototype as never)[name];
  }
  const { drawn, refused } = await account();
  expect(drawn.map(({ body }) => body)).toEqual([first.body]);
  expect(refused).toEqual([{ study: "painters" }, { study: "writers" }]);
});

test.each([{ study: "", question: "age" }, { study: "readers" }, { study: 3, question: "age" }])("%o has no names", async (given) => {
  await expect(drawOnce(given as never, drawing(), yes)).rejects.toThrow("texts that are not empty");
  await expect(kept(given as never)).rejects.toThrow(TypeError);
  expect(draws).toBe(0);
});

test("a changed spec is refused, and the report stays", async () => {
  const first = await drawOnce(age, drawing(), yes);
  expect(await reasonOf(drawOnce(age, drawing("0ther"), yes))).toBe(
    "changed: this question was answered under another spec, and a second report would spend ε again; ask under a new name",
  );
  expect((await kept(age))?.body).toBe(first.body);
  expect(draws).toBe(1);
});

test.each([age, { study: "readers" }])("a no to %o is remembered until the person wants to be asked again", async (no) => {
  await refuse(no);
  await refuse(no);
  expect(await reasonOf(drawOnce(age, drawing(), yes))).toBe("refused: the person said no to this question or study");
  expect(await kept(age)).toBeUndefined();
  expect((await account()).refused).toEqual([no]);
  await askAgain(no);
  expect((await drawOnce(age, drawing(), yes)).fresh).toBe(true);
});

test("a no to one question leaves the others, and one to another study leaves this", async () => {
  await refuse({ study: "readers", question: "town" });
  await refuse({ study: "writers" });
  expect((await drawOnce(age, drawing(), yes)).fresh).toBe(true);
});

test("after the draw there is no cancel", async () => {
  const first = await drawOnce(age, drawing(), yes);
  expect(await reasonOf(refuse(age))).toBe("drawn: the report was drawn after a yes, and cannot be taken back");
  await askAgain(age);
  await refuse({ study: "readers" }); // to what may still be asked
  expect((await drawOnce(age, drawing(), yes)).body).toBe(first.body);
});

test("Global Privacy Control: nothing new is drawn", async () => {
  const first = await drawOnce(age, drawing(), yes);
  vi.stubGlobal("navigator", { globalPrivacyControl: true });
  expect(await reasonOf(drawOnce({ ...age, question: "town" }, drawing(), yes))).toBe(
    "privacy-control: the browser's Global Privacy Control is on: nothing is drawn",
  );
  expect((await drawOnce(age, drawing(), yes)).body).toBe(first.body);
  expect(draws).toBe(1);
});

test("a draw that fails keeps nothing and hands on its error", async () => {
  const broken = { ...drawing(), report: () => { throw new RangeError("not in the domain"); } };
  await expect(drawOnce(age, broken, yes)).rejects.toThrow(new RangeError("not in the domain"));
  expect(await kept(age)).toBeUndefined();
  expect((await drawOnce(age, drawing(), yes)).fresh).toBe(true);
});

test("without IndexedDB nothing is drawn", async () => {
  vi.stubGlobal("indexedDB", undefined);
  expect(await reasonOf(drawOnce(age, drawing(), yes))).toBe(
    "storage: nothing can be kept in this browser (it has no IndexedDB), so no report is handed out: it would be drawn again",
  );
  expect(draws).toBe(0);
});

test("a database that does not open is a clear error", async () => {
  vi.stubGlobal("indexedDB", {
    open() {
      throw new DOMException("not here", "SecurityError");
    },
  });
  expect(await reasonOf(drawOnce(age, drawing(), yes))).toContain("nothing can be kept in this browser (SecurityError), so");
  expect(draws).toBe(0);
});

test("a later version of the database is a clear error", async () => {
  await new Promise((resolve) => (indexedDB.open("bipartite-report", 2).onsuccess = resolve));
  expect(await reasonOf(drawOnce(age, drawing(), yes))).toContain("nothing can be kept in this browser (VersionError), so");
  expect(draws).toBe(0);
});

test("full storage: the report is not handed out, and later there is one", async () => {
  const add = vi.spyOn(IDBObjectStore.prototype, "add").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  expect(await reasonOf(drawOnce(age, drawing(), yes))).toContain("nothing can be kept in this browser (QuotaExceededError), so");
  add.mockRestore();
  expect(await kept(age)).toBeUndefined();
  expect((await drawOnce(age, drawing(), yes)).fresh).toBe(true);
});

test("a no that cannot be kept is an error too", async () => {
  vi.stubGlobal("indexedDB", undefined);
  expect(await reasonOf(refuse(age))).toContain("storage: nothing can be kept in this browser");
});

test("storage that turns out to be full at the end, when all was written", async () => {
  const { add } = IDBObjectStore.prototype;
  vi.spyOn(IDBObjectStore.prototype, "add").mockImplementation(function (this: IDBObjectStore, ...given) {
    const request = add.apply(this, given);
    request.onsuccess = () => this.transaction.abort();
    return request;
  });
  const handedOut = await reasonOf(drawOnce(age, drawing(), yes));
  expect(handedOut).toContain("storage: nothing can be kept in this browser (AbortError)");
  vi.restoreAllMocks();
  expect(await kept(age)).toBeUndefined();
});

test("the value is nowhere in what is stored", async () => {
  const value = "the true answer";
  await drawOnce(age, { ...drawing(), report: () => value.length }, yes);
  const [entry, ...others] = (await account()).drawn;
  expect(others).toEqual([]);
  expect(Object.keys(entry ?? {}).sort()).toEqual(["body", "epsilon", "question", "spec", "study"]);
  expect(JSON.stringify(entry)).not.toContain(value);
});

test("a study spends no more than its cap, added up exactly", async () => {
  const ask = (question: string, epsilon: string, cap = "0.3") => reasonOf(drawOnce({ ...age, question }, drawing("5bec", epsilon, cap), yes));
  expect([await ask("one", "0.1"), await ask("two", "0.2")]).toEqual(["a report", "a report"]); // 0.30000000000000004 in floats
  expect(await ask("three", "0.00000000000000000001")).toBe("budget: ε of this study would be 0.30000000000000000001 here, above 0.3");
  expect(await ask("four", "0.05")).toContain("budget: ");
  expect(draws).toBe(2);
  expect((await account()).spent.get("readers")).toBe("0.3");
  expect(await ask("free", "0")).toBe("a report"); // constant spends nothing
  expect(await ask("two", "0.2", "0.1")).toBe("a report"); // it is kept, and handed out again
  expect(await ask("three", "0.00000000000000000001", "0.4")).toBe("a report");
});

test("names that sort beside a study's are other studies, whose ε does not count", async () => {
  for (const study of ["reader", "readers ", "readers\u0000", "readers\uffff", "readert", "Readers"]) await drawOnce({ ...age, study }, drawing("5bec", "20"), yes);
  for (const question of ["\u0000", "\uffff\uffff", "\u{10ffff}"]) await drawOnce({ ...age, question }, drawing("5bec", "5"), yes);
  expect(await reasonOf(drawOnce(age, drawing("5bec", "5.1"), yes))).toContain("budget: ε of this study would be 20.1 here, above 20");
  expect(await reasonOf(drawOnce(age, drawing("5bec", "5"), yes))).toBe("a report");
});

test("twenty questions at once spend no more than the cap", async () => {
  const ask = (_: unknown, i: number) => reasonOf(drawOnce({ ...age, question: `${i}` }, drawing("5bec", "0.1", "0.7"), yes));
  const outcomes = await Promise.all(Array.from({ length: 20 }, ask));
  expect(outcomes.filter((outcome) => outcome === "a report")).toHaveLength(7);
  expect(outcomes.filter((outcome) => String(outcome).startsWith("budget: "))).toHaveLength(13);
  expect((await account()).total).toBe("0.7");
  expect(draws).toBe(7);
});

test("the account adds ε exactly, for each study and question", async () => {
  expect(await account()).toEqual({ drawn: [], refused: [], spent: new Map(), total: "0" });
  await drawOnce(age, drawing("a", "0.1"), yes);
  await drawOnce({ ...age, question: "town" }, drawing("b", "0.2"), yes);
  await drawOnce({ ...age, study: "writers" }, drawing("c", "1"), yes);
  await drawOnce(age, drawing("a", "0.1"), yes); // again: spends nothing
  await refuse({ study: "painters" });
  const { drawn, refused, spent, total } = await account();
  expect(drawn.map(({ study, question, epsilon }) => [study, question, epsilon])).toEqual([
    ["readers", "age", "0.1"],
    ["readers", "town", "0.2"],
    ["writers", "age", "1"],
  ]);
  expect(refused).toEqual([{ study: "painters" }]);
  expect([...spent]).toEqual([["readers", "0.3"], ["writers", "1"]]);
  expect(total).toBe("1.3");
});
