import { readFileSync, readdirSync } from "node:fs";
import { type Case, casesOf } from "./vectors.js";

const tests = new URL("../../tests/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, tests), "utf8");

/** All vectors of the repository. */
export function readCases(): Case[] {
  const names = readdirSync(new URL("vectors/", tests)).filter((name) => name.endsWith(".json"));
  return casesOf(
    names.map((name) => [name.replace(".json", ""), read(`vectors/${name}`)]),
    (name) => read(`golden/v2/${name}`),
  );
}
