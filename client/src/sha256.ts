/**
 * SHA-256 (FIPS 180-4), lower-case hexadecimal. `crypto.subtle` has it too, but not synchronously, and not on pages
 * without HTTPS. Only public specs are hashed here.
 */
export function sha256(bytes: Uint8Array): string {
  const { initial, rounds } = constants();
  const blocks = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  blocks.set(bytes);
  blocks[bytes.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setUint32(blocks.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(blocks.length - 4, bytes.length << 3);

  const state = initial;
  const schedule = new Uint32Array(64);
  const at = (words: Uint32Array, index: number): number => words[index] as number;
  for (let start = 0; start < blocks.length; start += 64) {
    for (let i = 0; i < 64; i += 1) {
      if (i < 16) {
        schedule[i] = view.getUint32(start + 4 * i);
      } else {
        const x = at(schedule, i - 15);
        const y = at(schedule, i - 2);
        const small = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
        const large = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
        schedule[i] = at(schedule, i - 16) + small + at(schedule, i - 7) + large;
      }
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as Eight;
    for (let i = 0; i < 64; i += 1) {
      const choice = (e & f) ^ (~e & g);
      const first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + at(rounds, i) + at(schedule, i);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority;
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      state[i] = at(state, i) + word;
    });
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

type Eight = [number, number, number, number, number, number, number, number];

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/**
 * The first 32 bits of the fractional parts of the square roots of the first 8 primes and of the cube roots of the
 * first 64. Doubles have 53 bits, enough for 32 after a whole part below 7, and roots are within a unit of the last.
 */
function constants(): { initial: Uint32Array; rounds: Uint32Array } {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n += 1) if (primes.every((prime) => n % prime)) primes.push(n);
  const fraction = (root: number): number => (root % 1) * 2 ** 32;
  return {
    initial: Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    rounds: Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  };
}
