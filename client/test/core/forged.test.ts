// Specs that are not what they say: each is refused before anything is drawn, in plain words.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { Node } from "../../src/core/json.js";
import { SpecError, parseRecord, parseSpec, specHash } from "../../src/index.js";

afterEach(() => vi.restoreAllMocks());

// A forger changes whatever they like.
type Any = any;
type Forged = readonly [what: string, base: Any, forge: (spec: Any) => unknown, message: string];

const golden = (name: string): Any => JSON.parse(readFileSync(new URL(`../../../tests/golden/${name}.json`, import.meta.url), "utf8"));
const drawn: Any[] = JSON.parse(readFileSync(new URL("../../../tests/vectors/drawn.json", import.meta.url), "utf8")).map(({ spec }: Any) => JSON.parse(spec));
const first = (mechanism: string, holds: (spec: Any) => boolean = () => true): Any => drawn.find((spec) => spec.mechanism === mechanism && holds(spec));

const ages = golden("v1/ages-9e125d224edc");
const padded = golden("v1/income_padded-66240a3c5b54");
const hours = golden("v1/hours-5195818f4b7a");
const items = golden("v1/items-61c806300e43");
const places = golden("v1/places-65116784af51");
const plane = golden("v1/plane-4b7c868ae68e");
const pairs = golden("v1/pairs-772e152366cd");
const mixed = golden("v1/pairs_of_two_kinds-b384fb668df4");
const months = golden("v1/months_histogram-85fc953cf496");
const grr = golden("v2/grr-8f8376685dc9");
const anchored = golden("v2/anchored-58fea4fbe416");
const single = golden("v2/anchored_one-9ef080ba3370");
const constant = golden("v2/constant-a48aaded5dc3");
const custom = golden("v2/custom-cdc7979170c6");
const numbers = golden("v2/custom_numbers-08b7d6d246af");
const answers = golden("v2/custom_words-d1a1c71671d4");
const exponential = golden("v2/exponential-e034d65e6904");
const optimal = golden("v2/optimal-afb7fdc13c7c");
const levels = golden("v4/two_level-2d19db133e83");
const weighted = golden("v4/region_weighted-b9a83506aec6");
const minimax = golden("v5/minimax-2f7a5625af70");
const means = golden("v5/means-60a4ab9ae032");
const geometric = first("geometric");
const laplace = first("laplace");
const staircase = first("staircase");
const duchi = first("duchi");
const piecewise = first("piecewise");
const hybrid = first("hybrid", (spec) => spec.parts.window);
const oue = first("oue");
const rappor = first("rappor");
const subset = first("subset-selection");
const olh = first("olh");
const hadamard = first("hadamard-response");

const more = (tickets: string): string => String(BigInt(tickets) + 1n);
const LIKELIER = "one value makes a report more than e^ε times as likely as another";
const SHAPE = "tickets: near is not more than far, or far is not a power of two";
const TOTAL = "more than 2^52 tickets in all";
const haversine = places.domain.points.vectors;

const table: readonly Forged[] = [
  // The tickets give away more than ε.
  ["one ticket more for near values", ages, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, on a circle", hours, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, on items", items, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, on places", places, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, on pairs", pairs, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, in GRR", grr, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, on anchors", anchored, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, in a lottery", minimax, (s) => (s.sets[0].tickets.near = more(s.sets[0].tickets.near)), LIKELIER],
  ["one ticket more, in subset selection", subset, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, in OLH", olh, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, in Hadamard Response", hadamard, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, in the piecewise mechanism", piecewise, (s) => (s.tickets.near = more(s.tickets.near)), LIKELIER],
  ["one ticket more, in a hybrid", hybrid, (s) => (s.parts.window.near = more(s.parts.window.near)), LIKELIER],
  ["one step more, in Duchi's mechanism", duchi, (s) => (s.ends.step = more(s.ends.step)), LIKELIER],
  ["a smaller ε with the tickets of a larger", ages, (s) => (s.epsilon = "0.9"), LIKELIER],
  ["an ε smaller by one in the 13th digit", ages, (s) => (s.epsilon = "0.9999999999999"), LIKELIER],
  ["a chance more", oue, (s) => (s.chances.zero = String(BigInt(s.chances.zero) - 1n)), LIKELIER],
  ["a chance more, in RAPPOR", rappor, (s) => (s.permanent.one = String(BigInt(s.permanent.one) + 1000n)), LIKELIER],
  ["a row moved by a ticket", exponential, (s) => s.rows.forEach((row: string[], x: number) => x || ((row[0] = more(row[0] as string)), (row[4] = String(BigInt(row[4] as string) - 1n)))), LIKELIER],
  ["noise with heavier ends", geometric, (s) => (s.noise = ["5", "4", "3", "2", "1"]), LIKELIER],
  ["noise with a heavier middle", geometric, (s) => ((s.noise = ["90000", "2000", "2000", "2000", "900000"]), (s.epsilon = "3")), LIKELIER],
  ["two levels with more outside", levels, (s) => ((s.epsilon = "0.5")), LIKELIER],
  ["weighted regions with a smaller ε", weighted, (s) => (s.epsilon = "0.5"), LIKELIER],

  // Rows, totals and near-sets.
  ["unequal rows", custom, (s) => (s.rows[0][0] = String(BigInt(s.rows[0][0]) - 1n)), "rows: not all of one sum"],
  ["a row too few", custom, (s) => s.rows.pop(), "rows: not a list of 4"],
  ["a short row", custom, (s) => s.rows[1].pop(), "rows: not a list of 4"],
  ["a total that rows do not reach", levels, (s) => (s.total = String(BigInt(s.total) - 9n)), "tickets: rows do not add up to the total"],
  ["more rest than points", weighted, (s) => (s.tickets[0].own = String(BigInt(s.tickets[0].own) - 9n)), "tickets: rows do not add up to the total"],
  ["a near-set that travels", items, (s) => (s.near = [[0, 1, 2]]), 'spec: unknown member "near"'],
  ["a near-set of more than all values", items, (s) => (s.m = 30), "m: not a whole number from 1 to 29"],
  ["an empty near-set", ages, (s) => (s.m = 0), "m: not a whole number from 1 to 72"],
  ["a rank that no item has", items, (s) => (s.domain.items.ranks[3][4] = 30), "ranks: not a whole number from 0 to 29"],
  ["a short row of ranks", items, (s) => s.domain.items.ranks[3].pop(), "ranks: not a list of 30"],
  ["even m with padded edges", padded, (s) => (s.m += 1), "spec: m is not odd, with padded edges"],
  ["padded edges on a circle", hours, (s) => (s.edges = "padded"), "edges: not clamped"],
  ["more than 2^52 tickets", ages, (s) => (s.tickets = { near: "2251799813685248", far: "1125899906842624" }), TOTAL],
  ["more than 2^52 tickets in tries", pairs, (s) => (s.tickets = { near: "140737488355327", far: "70368744177664" }), TOTAL],
  ["a count above 2^52", custom, (s) => (s.rows[0][0] = "4503599627370497"), "rows: more than 2^52 tickets"],
  ["far that is no power of two", ages, (s) => (s.tickets.far = more(s.tickets.far)), SHAPE],
  ["near as many as far", grr, (s) => (s.tickets.near = s.tickets.far), SHAPE],
  ["near less than far", grr, (s) => (s.tickets.near = "1"), "tickets: near is less than far"],
  ["a window that is not nearer", hybrid, (s) => (s.parts.window.near = s.parts.window.far), "window: near is not more than far"],
  ["a single anchor with tickets of its own", single, (s) => (s.tickets.near = "3"), "tickets: not 2 and 1 for a single place"],
  ["noise that rises", geometric, (s) => (s.noise[2] = more(s.noise[1])), "noise: not descending"],
  ["zero above one", oue, (s) => ([s.chances.one, s.chances.zero] = [s.chances.zero, s.chances.one]), "chances: one is not more than zero, or too large"],
  ["a chance of 2^64", oue, (s) => (s.chances.one = "18446744073709551616"), "chances: one is not more than zero, or too large"],
  ["instantaneous chances the wrong way round", rappor, (s) => (s.instantaneous = { one: "1", zero: "2" }), "instantaneous: one is not more than zero, or too large"],

  // ε, version, mechanism.
  ["ε above the client's limit", ages, (s) => (s.epsilon = "20.5"), "ε is 20.5, and this client draws at 20 at most"],
  ["ε above every limit", ages, (s) => (s.epsilon = "50.5"), "epsilon: not from 10^-15 to 50"],
  ["ε of nothing", ages, (s) => (s.epsilon = "0"), "epsilon: not from 10^-15 to 50"],
  ["ε with 21 digits", ages, (s) => (s.epsilon = "1.00000000000000000001"), "epsilon: more than 20 digits"],
  ...["1.0", "01", ".5", "1e-3", "1e3", "+1", "-1", " 1", "1\n", "1.", "", "∞", "NaN", "0x1", "１", 1, null].map(
    (epsilon): Forged => [`ε written ${JSON.stringify(epsilon)}`, ages, (s) => (s.epsilon = epsilon), "epsilon: not a decimal in plain digits, as a string"],
  ),
  ["no ε", ages, (s) => delete s.epsilon, "spec: epsilon is missing"],
  ["an ε where none is spent", constant, (s) => (s.epsilon = "1"), 'spec: unknown member "epsilon"'],
  ["an unknown version", ages, (s) => (s.bipartite = 6), "bipartite: not version 1, which brr has"],
  ["another mechanism's version", grr, (s) => (s.bipartite = 1), "bipartite: not version 2, which grr has"],
  ["a version as a string", ages, (s) => (s.bipartite = "1"), "bipartite: not a number"],
  ["no version", ages, (s) => delete s.bipartite, "spec: bipartite is missing"],
  ["an unknown mechanism", ages, (s) => (s.mechanism = "laplacian"), "mechanism: unknown"],
  ["a mechanism of every object", ages, (s) => (s.mechanism = "constructor"), "mechanism: unknown"],
  ["a mechanism that is no string", ages, (s) => (s.mechanism = ["brr"]), "mechanism: not a name, as a string"],
  ["less than ε-LDP: planar Laplace", first("planar-laplace"), () => {}, "mechanism: planar-laplace does not keep ε between all values"],
  ["less than ε-LDP: within a region", first("within-region"), () => {}, "mechanism: within-region does not keep ε between all values"],

  // Members and forms.
  ["an unknown member", ages, (s) => (s.seed = 1), 'spec: unknown member "seed"'],
  ["an unknown member of the tickets", ages, (s) => (s.tickets.mid = "1"), 'tickets: unknown member "mid"'],
  ["an unknown member of the domain", ages, (s) => (s.domain.points = 3), 'domain: unknown member "points"'],
  ["an unknown member of a part", pairs, (s) => (s.domain.product.parts[0].start = 3), 'parts: unknown member "start"'],
  ["an unknown member of a set", minimax, (s) => (s.sets[1].weight = 3), 'sets: unknown member "weight"'],
  ["a way to draw on a line", ages, (s) => (s.draw = "list"), 'spec: unknown member "draw"'],
  ["no way to draw on items", items, (s) => delete s.draw, "spec: draw is missing"],
  ["an unknown way to draw", items, (s) => (s.draw = "guess"), "draw: not tries or list"],
  ["no tickets", ages, (s) => delete s.tickets, "spec: tickets is missing"],
  ["a list of tickets", ages, (s) => (s.tickets = []), "tickets: not an object"],
  ...["095641039294813", "95641039294813.0", "9.5e13", "0", "-1", " 1", "12345678901234567", 95641039294813].map(
    (near): Forged => [`tickets written ${JSON.stringify(near)}`, ages, (s) => (s.tickets.near = near), "near: not a count of tickets, as a string"],
  ),
  ["a chance with a sign", oue, (s) => (s.chances.one = "+9223372036854775808"), "one: not a chance, as a string"],
  ["m as a string", ages, (s) => (s.m = "27"), "m: not a whole number from 1 to 72"],
  ["half an m", ages, (s) => (s.m = 26.5), "m: not a whole number from 1 to 72"],

  // Domains.
  ["no domain", ages, (s) => (s.domain = {}), "domain: unknown"],
  ["a domain that is a list", ages, (s) => (s.domain = []), "domain: not an object"],
  ["integers that descend", ages, (s) => (s.domain.integers = [90, 18]), "integers: not ascending, or more than 2^31"],
  ["too many integers", ages, (s) => (s.domain.integers = [0, 2 ** 31]), "integers: not ascending, or more than 2^31"],
  ["integers beyond 2^53", ages, (s) => (s.domain.integers = [0, 2 ** 53]), "integers: not a whole number from -9007199254740991 to 9007199254740991"],
  ["reports beyond 2^53", ages, (s) => ((s.domain.integers = [2 ** 53 - 73, 2 ** 53 - 1]), (s.edges = "padded"), (s.tickets = { near: "2", far: "1" })), "integers: reports are not exact"],
  ["an interval that descends", laplace, (s) => s.domain.interval.reverse(), "interval: not ascending"],
  ["an interval of one point", laplace, (s) => (s.domain.points = 1), "points: not a whole number from 2 to 2147483648"],
  ["nodes too close", padded, (s) => (s.domain.interval = [1e16, 1e16 + 2]), "interval: reports are too large or too close"],
  ["nodes too far apart", padded, (s) => (s.domain.interval = [-1e308, 1e308]), "interval: reports are too large or too close"],
  ["padded nodes too close", laplace, (s) => ((s.domain.interval = [2 ** 53 - 64, 2 ** 53 - 32]), (s.padding = 8), (s.noise = Array(13).fill("1"))), "interval: reports are too large or too close"],
  ["rounding to even", padded, (s) => (s.domain.rounding = "even"), "rounding: not nearest or random"],
  ["a circle with a start and labels", months, (s) => (s.domain.cyclic.labels = Array.from({ length: 12 }, (_, i) => `${i}`)), 'cyclic: unknown member "start"'],
  ["a circle without either", hours, (s) => delete s.domain.cyclic.start, "cyclic: start is missing"],
  ["a circle beyond 2^53", hours, (s) => (s.domain.cyclic.start = 2 ** 53 - 23), "start: not a whole number from -9007199254740991 to 9007199254740968"],
  ["labels that repeat", answers, (s) => (s.domain.items.labels = ["tea", "tea"]), "labels: not all different"],
  ["labels of two kinds", answers, (s) => (s.domain.items.labels = ["tea", 1]), "labels: not all strings or all whole numbers"],
  ["a label too few", answers, (s) => s.domain.items.labels.pop(), "labels: not a list of 2"],
  ["a single item", answers, (s) => (s.domain.items = { ranks: [[0]] }), "ranks: fewer than two items"],
  ["a point off the sphere", places, (s) => (s.domain.points.vectors[2] = [2 ** 25 - 2, 0, 0]), "vectors: not on the sphere"],
  ["a point beyond the sphere", places, (s) => (s.domain.points.vectors[2] = [2 ** 25 + 2, 0, 0]), "vectors: not on the sphere"],
  ["a point with two coordinates", places, (s) => s.domain.points.vectors[2].pop(), "vectors: not a list of 3"],
  ["bits on the sphere", places, (s) => (s.domain.points.bits = 3), 'points: unknown member "bits"'],
  ["no bits in the plane", plane, (s) => delete s.domain.points.bits, "points: bits is missing"],
  ["too many bits", plane, (s) => (s.domain.points.bits = 901), "bits: not a whole number from -500 to 900"],
  ["points too far apart", plane, (s) => (s.domain.points.vectors[0][0] = 2 ** 40), "vectors: too far apart"],
  ["a single point", places, (s) => (s.domain.points = { metric: "haversine", vectors: haversine.slice(0, 1) }), "vectors: fewer than two points"],
  ["an unknown metric", plane, (s) => (s.domain.points.metric = "chebyshev"), "metric: not euclidean or manhattan or haversine"],
  ["a product of one", pairs, (s) => s.domain.product.parts.pop(), "product: fewer than two parts, or one is a product or rounded at random"],
  ["a product within a product", pairs, (s) => (s.domain.product.parts[0] = structuredClone(s.domain)), "product: fewer than two parts, or one is a product or rounded at random"],
  ["a part rounded at random", pairs, (s) => (s.domain.product.parts[0] = { interval: [0, 1], points: 10, rounding: "random" }), "product: fewer than two parts, or one is a product or rounded at random"],
  ["a weight of nothing", pairs, (s) => (s.domain.product.weights[0] = 0), "product: weights are not positive"],
  ["a loss of nothing", pairs, (s) => (s.domain.product.losses[0] = 0), "losses: not a whole number from 1 to 9007199254740991"],
  ["losses too large", pairs, (s) => (s.domain.product.losses[0] = 2 ** 50), "product: losses are too large"],
  ["losses too large in a matrix", mixed, (s) => (s.domain.product.losses.find(Array.isArray)[0][1] = 2 ** 31), "product: losses are too large"],
  ["a product too large", pairs, (s) => (s.domain.product.parts = [{ integers: [0, 99999] }, { integers: [0, 99999] }]), "product: more than 2^31 values"],
  ["too many pairs to compare", pairs, (s) => ((s.domain.product.parts[0].integers[1] = 13107), (s.tickets = { near: "2", far: "1" })), "domain: too many values for this mechanism"],
  ["too many values to compare", anchored, (s) => (s.domain.integers[1] = 2 ** 24 + 1), "domain: too many values for this mechanism"],

  // What a mechanism has of its own.
  ["anchors that descend", anchored, (s) => s.anchors.reverse(), "anchors: not ascending"],
  ["no anchors", anchored, (s) => (s.anchors = []), "anchors: not a list of entries"],
  ["an anchor outside", anchored, (s) => (s.anchors[2] = 100), "anchors: not a whole number from 0 to 99"],
  ["an answer outside", constant, (s) => (s.answer = -1), "answer: not a whole number from 0 to 999999999"],
  ["too many sets", minimax, (s) => ((s.domain.integers[1] = 2 ** 24), (s.sets = [...s.sets, ...s.sets])), "sets: too many"],
  ["bins that begin late", means, (s) => (s.bins = [1, 2]), "bins: the first is not 0, or not as many as outputs"],
  ["means beyond the domain", means, (s) => (s.outputs[1] = 5.5), "outputs: outside the domain"],
  ["means on items", means, (s) => (s.domain = answers.domain), "domain: not a line, or more than 4096 values"],
  ["a table too large", custom, (s) => (s.domain.integers = [0, 2 ** 24]), "rows: too large"],
  ["labels of an optimal release", optimal, (s) => (s.outputs = { labels: ["a", "b", "c", "d"] }), "outputs: not of a kind for this mechanism and domain"],
  ["numbers on items", answers, (s) => (s.outputs = { numbers: [1, 2, 3] }), "outputs: not of a kind for this mechanism and domain"],
  ["outputs of two kinds", numbers, (s) => (s.outputs.labels = ["a"]), 'outputs: unknown member "labels"'],
  ["numbers that repeat", numbers, (s) => (s.outputs.numbers[1] = s.outputs.numbers[0]), "numbers: not ascending"],
  ["an unknown variant", exponential, (s) => (s.variant = "loose"), "variant: not tight or published"],
  ["noise too long", geometric, (s) => (s.domain.integers = [0, 2 ** 22 + 1]), "noise: too many shifts"],
  ["Laplace noise on integers", laplace, (s) => (s.domain = ages.domain), "domain: not one for this mechanism"],
  ["gamma above 1", staircase, (s) => (s.gamma = 1.5), "gamma: not from 0 to 1"],
  ["Duchi's mechanism on integers", duchi, (s) => (s.domain = ages.domain), "domain: not an interval"],
  ["too many points for two ends", duchi, (s) => (s.domain.points = 2 ** 24 + 1), "domain: too many points"],
  ["ends too far apart", duchi, (s) => (s.domain.interval = [-1e308, 0.75e308]), "interval: reports are too large or too close"],
  ["a stride of billions", piecewise, (s) => (s.stride = 4e9), "stride: not a whole number from 1 to 4194304"],
  ["a window too long", piecewise, (s) => (s.stride = 2 ** 21), "spec: too many outputs"],
  ["a hybrid too large", hybrid, (s) => ((s.domain.points = 5000), (s.parts.ends.step = "1"), (s.parts.window.near = "2"), (s.parts.window.far = "1")), "window: too many outputs"],
  ["regions in the plane", levels, (s) => (s.domain = plane.domain), "domain: not points with haversine"],
  ["names that are numbers", levels, (s) => (s.regions.names = [1, 2, 3]), "regions: names are not strings"],
  ["a region of one point", levels, (s) => (s.regions.labels = [1, 1, 1, 1, 1, 1, 0]), "regions: one has fewer than two points"],
  ["regions without end", levels, (s) => (s.regions.names = Array.from({ length: 4097 }, (_, i) => `${i}`)), "regions: more than 4096"],
  ["one region, weighted", weighted, (s) => (s.regions = { labels: s.regions.labels.map(() => 0), names: ["all"] }) && (s.tickets.length = 1), "regions: fewer than two, or too large"],
  ["too many bits to send", oue, (s) => (s.domain.integers = [0, 2 ** 18]), "domain: more than 2^18 values"],
  ["three blocks", hadamard, (s) => (s.blocks = 3), "blocks: not powers of two"],
  ["blocks too small", hadamard, (s) => (s["block-size"] = 2), "blocks: too few for the domain, or too many"],
  ["one bucket", olh, (s) => (s.buckets = 1), "buckets: not a whole number from 2 to 32768"],
  ["a set of all", subset, (s) => (s.k = 99), "k: not a whole number from 1 to"],
];

test.each(table)("refused: %s", (_what, base, forge, message) => {
  const spec = structuredClone(base);
  forge(spec);
  const text = JSON.stringify(spec);
  expect(() => parseSpec(text)).toThrow(SpecError);
  expect(() => parseSpec(text)).toThrow(message);
});

const text = JSON.stringify(ages);

test.each([
  ["a repeated key", text.replace('"m":27', '"m":27,"m":27'), "a key is repeated"],
  ["a repeated key, the first one smaller", text.replace('"epsilon":"1"', '"epsilon":"0.5","epsilon":"1"'), "a key is repeated"],
  ["a repeated key, once escaped", text.replace('"m":27', '"m":27,"\\u006d":27'), "a key is repeated"],
  ["a repeated key with space before the colon", text.replace('"m":27', '"m":27,"m" \n\t:27'), "a key is repeated"],
  ["a repeated key within", text.replace('"far"', '"near":"2","far"'), "a key is repeated"],
  ["a prototype", text.replace('"m":27', '"m":27,"__proto__":{"m":3}'), 'spec: unknown member "__proto__"'],
  ["not a number", text.replace("27", "NaN"), "the text is not JSON"],
  ["an infinite number", text.replace("27", "1e400"), "a number is too large"],
  ["a number with a leading zero", text.replace("27", "027"), "the text is not JSON"],
  ["a hexadecimal number", text.replace("27", "0x1b"), "the text is not JSON"],
  ["half a character", text.replace('"clamped"', '"\\ud834"'), "a string holds half a character"],
  ["a byte order mark", `\ufeff${text}`, "the text is not JSON"],
  ["a comment", `${text}//`, "the text is not JSON"],
  ["nothing", "", "the text is not JSON"],
  ["a list", "[]", "spec: not an object"],
  ["a number alone", "1", "spec: not an object"],
  ["a text too deep", `${"[".repeat(200_000)}${"]".repeat(200_000)}`, "the text is too deep or too long"],
  ["an object in place of its text", JSON.parse(text), "not a text"],
])("refused as it stands: %s", (_what, forged, message) => {
  expect(() => parseSpec(forged)).toThrow(SpecError);
  expect(() => parseSpec(forged)).toThrow(message);
});

test.each([
  ["between digits", `1${"0".repeat(60_000)}1`],
  ["after the point", `0.1${"0".repeat(60_000)}1`],
])("a long ε with zeros %s is refused at once", (_where, epsilon) => {
  const began = performance.now();
  expect(() => parseSpec(text.replace('"epsilon":"1"', `"epsilon":"${epsilon}"`))).toThrow("epsilon: more than 20 digits");
  expect(performance.now() - began).toBeLessThan(2000); // a few milliseconds; minutes where time grows with the square
});

test("the hash reads as strictly", () => {
  expect(() => specHash('{"a":1,"a":1}')).toThrow("a key is repeated");
  expect(specHash('{"b":[-0, 2e5, 1E21, 1e-7, "\\u001F\\u007f/\\/é"], "a" : {}}')).toBe(specHash('{"a":{},"b":[0,200000,1e+21,1e-7,"\\u001f\u007f//é"]}'));
});

test("keys and colons within strings are not counted", () => {
  expect(specHash('{"a":["\\"a\\":", "a", ":", "\\\\", "a\\\\\\":"]}')).toMatch(/^[0-9a-f]{64}$/);
});

test("a text with millions of escapes is JSON all the same", () => {
  const many = `["${"a\\n".repeat(3_000_000)}"]`;
  expect(specHash(many)).toBe(createHash("sha256").update(many).digest("hex"));
  expect(() => specHash(`{"a":${many},"a":1}`)).toThrow("a key is repeated");
});

test("a number of a long list has no node and no text of its own", () => {
  const row = [0, 2, 1];
  expect(new Node(row, "ranks").wholes(3)).toBe(row);
  const stringify = vi.spyOn(JSON, "stringify");
  specHash(`{"rows":[${`[${"1,".repeat(99)}-0],`.repeat(100)}[1]]}`);
  expect(stringify.mock.calls).toEqual([["rows"]]);
});

test("the client's own limit is held against each spec and the whole record", () => {
  expect(parseSpec(text, { epsilon: "1" }).epsilon).toBe("1");
  expect(() => parseSpec(text, { epsilon: "0.99" })).toThrow("ε is 1, and this client draws at 0.99 at most");
  for (const limits of [{ epsilon: "one" }, { epsilon: 1 }, {}, "1", Object.create({ epsilon: "1" })]) {
    expect(() => parseSpec(text, limits as never)).toThrow("the largest ε is not a decimal in plain digits");
  }
  expect(() => parseRecord([["a", text], ["b", text]], undefined, { epsilon: "1.5" })).toThrow("ε is 2, and this client draws at 1.5 at most");
  expect(parseRecord([["a", text], ["b", text]], 1, { epsilon: "1.5" }).epsilon).toBe("1");
});

test("a limit that a page finds in every object raises nothing", () => {
  const high = text.replace('"epsilon":"1"', '"epsilon":"21"');
  Object.assign(Object.prototype, { epsilon: "50" });
  try {
    expect(() => parseSpec(high)).toThrow("ε is 21, and this client draws at 20 at most");
  } finally {
    delete (Object.prototype as Any).epsilon;
  }
});

test.each([
  ["no attribute", [], undefined, "record: no attribute, or a repeated name"],
  ["a repeated name", [["a", text], ["a", text]], undefined, "record: no attribute, or a repeated name"],
  ["half a character in a name", [["\ud834", text]], undefined, "a string holds half a character"],
  ["a sample of none", [["a", text], ["b", text]], 0, "sample: not from 1 to one less than all attributes"],
  ["a sample of all", [["a", text], ["b", text]], 2, "sample: not from 1 to one less than all attributes"],
  ["half a sample", [["a", text], ["b", text]], 0.5, "sample: not from 1 to one less than all attributes"],
  ["too many sets", Array.from({ length: 20 }, (_, i) => [`${i}`, text]), 10, "sample: more than 2^16 sets"],
  ["an attribute that is less than ε-LDP", [["a", JSON.stringify(first("within-region"))]], undefined, "within-region does not keep ε between all values"],
] as const)("a record is refused: %s", (_what, attributes, sample, message) => {
  expect(() => parseRecord(attributes as [string, string][], sample)).toThrow(message);
});
