/** Each call gives one uniform 64-bit word, 0 … 2⁶⁴ − 1. */
export type WordSource = () => bigint;

/** There are no secure words, so nothing can be drawn. */
export class RandomError extends Error {
  override name = "RandomError";
}

const BUFFERED = 64;

/**
 * Words from `crypto.getRandomValues`, which takes them from the operating system. Where it is missing this is an
 * error: no other source takes its place. A word is erased from the buffer when it is used.
 */
export function cryptoWords(): WordSource {
  const source = globalThis.crypto;
  if (typeof source?.getRandomValues !== "function") {
    throw new RandomError("crypto.getRandomValues is missing here, and reports drawn without it would not be private");
  }
  const buffer = new BigUint64Array(BUFFERED);
  let used = BUFFERED;
  return () => {
    if (used === BUFFERED) {
      source.getRandomValues(buffer);
      used = 0;
    }
    const word = buffer[used] as bigint;
    buffer[used] = 0n;
    used += 1;
    return word;
  };
}

/** The words of a test vector, in order. Reports drawn with them are NOT private. */
export function fixedWords(words: Iterable<bigint>): WordSource {
  const left = words[Symbol.iterator]();
  return () => {
    const next = left.next();
    if (next.done) throw new RandomError("no words left: the draw took more than were given");
    return next.value;
  };
}
