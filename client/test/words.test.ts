import { afterEach, expect, test, vi } from "vitest";
import { sha256 } from "../src/sha256.js";
import { RandomError, cryptoWords, fixedWords } from "../src/words.js";

afterEach(() => vi.unstubAllGlobals());

test("words are those of crypto.getRandomValues, each given once and erased from the buffer", () => {
  const buffers: BigUint64Array[] = [];
  let filled = 0n;
  vi.stubGlobal("crypto", {
    getRandomValues(buffer: BigUint64Array) {
      buffers.push(buffer);
      for (let i = 0; i < buffer.length; i += 1) buffer[i] = filled += 1n;
      return buffer;
    },
  });
  const words = cryptoWords();
  expect(Array.from({ length: 130 }, words)).toEqual(Array.from({ length: 130 }, (_, i) => BigInt(i + 1)));
  expect(buffers).toHaveLength(3);
  expect(buffers[2]?.slice(0, 3)).toEqual(new BigUint64Array([0n, 0n, 131n]));
});

test.each([undefined, {}])("without crypto.getRandomValues there are no words (%o)", (missing) => {
  vi.stubGlobal("crypto", missing);
  expect(cryptoWords).toThrow(RandomError);
  expect(cryptoWords).toThrow("crypto.getRandomValues is missing here, and reports drawn without it would not be private");
});

test("an error of the source is an error of the draw", () => {
  vi.stubGlobal("crypto", {
    getRandomValues() {
      throw new Error("no entropy");
    },
  });
  expect(() => cryptoWords()()).toThrow("no entropy");
});

test("the words of a vector end", () => {
  const words = fixedWords([7n, 8n]);
  expect([words(), words()]).toEqual([7n, 8n]);
  expect(words).toThrow("no words left: the draw took more than were given");
});

test("SHA-256 is that of the platform, at every length around a block", async () => {
  for (let length = 0; length < 200; length += 1) {
    const text = String.fromCharCode(...Array.from({ length }, (_, i) => (i * 37 + length) & 2047));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
    const { add, end } = sha256();
    for (const piece of [text.slice(0, 70), text.slice(70, 71), text.slice(71)]) add(piece);
    expect(end()).toBe(Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  }
  const { add, end } = sha256();
  add("abc");
  expect(end()).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
