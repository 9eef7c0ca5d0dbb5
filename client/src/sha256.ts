/**
 * SHA-256 (FIPS 180-4), lower-case hexadecimal. `crypto.subtle` has it too, but not synchronously, and not on pages
 * without HTTPS. Only public specs are hashed here.
 */
export function sha256(bytes: Uint8Array): string {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n += 1) if (primes.every((prime) => n % prime)) primes.push(n);
  // The first 32 bits after the point of roots of primes: a double has 53, and tests compare every one of them.
  const fraction = (root: number): number => ((root % 1) * 2 ** 32) | 0;
  const rounds = primes.map((prime) => fraction(Math.cbrt(prime)));
  let state = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

  const blocks = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6));
  new Uint8Array(blocks.buffer).set(bytes);
  blocks.setUint8(bytes.length, 0x80);
  blocks.setBigUint64(blocks.byteLength - 8, 8n * BigInt(bytes.length));
  const turned = (word: number, ...by: number[]): number =>
    by.reduce((sum, each) => sum ^ (word >>> each) ^ (word << (32 - each)), 0);
  for (let start = 0; start < blocks.byteLength; start += 64) {
    const schedule: number[] = [];
    let [a, b, c, d, e, f, g, h] = state as Eight;
    rounds.forEach((constant, i) => {
      const [x, y] = [schedule[i - 15] ?? 0, schedule[i - 2] ?? 0];
      const word =
        i < 16
          ? blocks.getInt32(start + 4 * i)
          : (schedule[i - 16] ?? 0) + (turned(x, 7, 18) ^ (x >>> 3)) + (schedule[i - 7] ?? 0) + (turned(y, 17, 19) ^ (y >>> 10));
      schedule.push(word | 0);
      const first = h + turned(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + constant + word;
      const second = turned(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    });
    state = [a, b, c, d, e, f, g, h].map((word, i) => (word + (state[i] ?? 0)) | 0);
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

type Eight = [number, number, number, number, number, number, number, number];
