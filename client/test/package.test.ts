import { existsSync, readFileSync } from "node:fs";
import { build } from "esbuild";
import { expect, test } from "vitest";
import lock from "../package-lock.json" with { type: "json" };
import manifest from "../package.json" with { type: "json" };
import * as all from "../src/index.js";

test("the package depends on nothing, and its tools are pinned", () => {
  expect(manifest).not.toHaveProperty("dependencies");
  for (const version of Object.values(manifest.devDependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

test("the lock has the hash of every tool and names no registry", () => {
  const packages = Object.entries(lock.packages).filter(([path]) => path);
  expect(packages.length).toBeGreaterThan(50);
  for (const [path, entry] of packages) {
    expect(entry, path).toHaveProperty("integrity", expect.stringMatching(/^sha512-/));
    expect(entry, path).not.toHaveProperty("resolved");
  }
});

test("each way into the package has its types", () => {
  for (const way of Object.values(manifest.exports)) expect(Object.keys(way)).toEqual(["types", "default"]);
});

// `make client` builds before it tests.
const bundle = new URL("../dist/bipartite-report.iife.js", import.meta.url);
test.skipIf(!existsSync(bundle))("the file for a script tag has all names, as its types say", () => {
  const found = new Function(`${readFileSync(bundle, "utf8")}; return globalThis.bipartiteReport;`)();
  expect(Object.keys(found).sort()).toEqual(Object.keys(all).sort());
  expect(readFileSync(bundle.pathname.replace(".js", ".d.ts"), "utf8")).toContain('var bipartiteReport: typeof import("./index.js");');
});

test("what a page does not use is left out of its bundle", async () => {
  const bundled = async (names: string): Promise<string> => {
    const contents = `import { ${names} } from "./src/index.ts"; console.log(${names});`;
    const resolveDir = new URL("..", import.meta.url).pathname;
    const options = { bundle: true, minify: true, write: false, format: "esm", target: "es2022" } as const;
    return (await build({ stdin: { contents, resolveDir }, ...options })).outputFiles[0]?.text ?? "";
  };
  expect((await bundled("describe")).length).toBeLessThan(1000);
  expect(await bundled("draw, parseSpec")).not.toContain("indexedDB");
  expect(await bundled("reportOnce")).toContain("indexedDB");
});
