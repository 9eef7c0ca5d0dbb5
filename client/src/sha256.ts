/**
 * SHA-256 (FIPS 180-4) of a text that comes in pieces, in UTF-8; lower-case hexadecimal. `crypto.subtle` has it too, but not
 * synchronously, and not on pages without HTTPS. Only public specs are hashed here.
 */
export function sha256(): { readonly add: (text: string) => void; readonly end: () => string } {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n += 1) if (primes.every((prime) => n % prime)) primes.push(n);
  // The first 32 bits after the point of roots of primes: a double has 53, and tests compare every one of them.
  const fraction = (root: number): number => ((root % 1) * 2 ** 32) | 0;
  const constants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
  const state = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

  const schedule = new Int32Array(64);
  const block = new DataView(schedule.buffer, 0, 64);
  const turned = (word: number, x: number, y: number, z: number): number =>
    ((word >>> x) | (word << (32 - x))) ^ ((word >>> y) | (word << (32 - y))) ^ ((word >>> z) | (word << (32 - z)));
  // Words a, b, … h of a round are those from its place on: each round goes one place down.
  const rounds = new Int32Array(72);
  const mix = (): void => {
    for (let i = 0; i < 16; i += 1) schedule[i] = block.getInt32(4 * i);
    for (let i = 16; i < 64; i += 1) {
      const x = schedule[i - 15] as number;
      const y = schedule[i - 2] as number;
      // A word that is shifted is one that is turned, without the bits that came round.
      schedule[i] = (schedule[i - 16] as number) + (turned(x, 7, 18, 3) ^ (x << 29)) + (schedule[i - 7] as number) + (turned(y, 17, 19, 10) ^ (y << 22));
    }
    rounds.set(state, 64);
    for (let i = 0; i < 64; i += 1) {
      const to = 63 - i;
      const a = rounds[to + 1] as number;
      const b = rounds[to + 2] as number;
      const c = rounds[to + 3] as number;
      const e = rounds[to + 5] as number;
      const chosen = (e & (rounds[to + 6] as number)) ^ (~e & (rounds[to + 7] as number));
      const first = ((rounds[to + 8] as number) + turned(e, 6, 11, 25) + chosen + (constants[i] as number) + (schedule[i] as number)) | 0;
      rounds[to] = first + turned(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
      rounds[to + 4] = (rounds[to + 4] as number) + first;
    }
    for (let i = 0; i < 8; i += 1) state[i] = (state[i] as number) + (rounds[i] as number);
  };
  let length = 0;
  const put = (byte: number): void => {
    block.setUint8(length % 64, byte);
    length += 1;
    if (length % 64 === 0) mix();
  };
  let waiting = "";
  const take = (): void => {
    const bytes = new TextEncoder().encode(waiting);
    for (let i = 0; i < bytes.length; i += 1) put(bytes[i] as number); // faster than for … of
    waiting = "";
  };
  return {
    add(text) {
      waiting += text;
      if (waiting.length > 20_000) take();
    },
    end() {
      take();
      const bits = BigInt(length) * 8n;
      put(0x80);
      while (length % 64 !== 56) put(0);
      block.setBigUint64(56, bits);
      mix();
      return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
    },
  };
}
