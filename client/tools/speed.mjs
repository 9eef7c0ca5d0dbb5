// Reports a second, one call after another: a list of {spec, value} on standard input, as many numbers on standard output.
import { readFileSync } from "node:fs";
import { cryptoWords, draw, parseSpec } from "../dist/index.js";

const SECONDS = 0.5;

function speed({ spec, value }) {
  const checked = parseSpec(spec);
  const words = cryptoWords();
  const began = performance.now();
  let drawn = 0;
  let took = 0;
  do {
    for (let i = 0; i < 50; i += 1) draw(checked, value, words);
    drawn += 50;
    took = (performance.now() - began) / 1000;
  } while (took < SECONDS);
  return drawn / took;
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(speed)));
