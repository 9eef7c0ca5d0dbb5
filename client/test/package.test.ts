import { expect, test } from "vitest";
import lock from "../package-lock.json" with { type: "json" };
import manifest from "../package.json" with { type: "json" };

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
