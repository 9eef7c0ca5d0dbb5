import { SpecError, must } from "./errors.js";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const isObject = (json: Json): json is { readonly [name: string]: Json } => typeof json === "object" && json !== null && !Array.isArray(json);

/** A JSON text and its canonical form (RFC 8785), without repeated keys, infinite numbers and halves of characters. */
export function readJson(text: string): { readonly root: Node; readonly canonical: string } {
  let keys = 0;
  const write = (json: Json): string => {
    if (Array.isArray(json)) return `[${json.map(write).join()}]`;
    if (isObject(json)) {
      const names = Object.keys(json).sort();
      keys += names.length;
      return `{${names.map((name) => `${write(name)}:${write(json[name] as Json)}`).join()}}`;
    }
    must(typeof json !== "number" || Number.isFinite(json), "a number is too large");
    must(typeof json !== "string" || !/\p{Surrogate}/u.test(json), "a string holds half a character");
    return JSON.stringify(json);
  };
  try {
    const json = JSON.parse(text) as Json;
    const canonical = write(json);
    // A string before a colon is a key: the text must have as many as were kept.
    for (const [, colon] of text.matchAll(/"(?:[^"\\]+|\\.)*"(\s*:)?/g)) if (colon) keys -= 1;
    must(!keys, "a key is repeated");
    return { root: new Node(json, "spec"), canonical };
  } catch (error) {
    throw error instanceof SpecError ? error : new SpecError("the text is not JSON");
  }
}

/** A part of a spec, read strictly: what is missing is refused when it is asked for, and what nobody asked for by `done`. */
export class Node {
  readonly #json: Json;
  readonly #what: string;
  #read: Map<string, Node> | undefined;
  #entries: readonly Node[] | undefined;

  constructor(json: Json, what: string) {
    this.#json = json;
    this.#what = what;
  }

  /** Refuses the spec unless something holds of this part. */
  must(holds: boolean, why: string): void {
    must(holds, `${this.#what}: ${why}`);
  }

  has(name: string): boolean {
    this.must(isObject(this.#json), "not an object");
    return Object.hasOwn(this.#json as object, name);
  }

  /** A member. */
  at(name: string): Node {
    this.must(this.has(name), `${name} is missing`);
    this.#read ??= new Map();
    const part = this.#read.get(name) ?? new Node((this.#json as { readonly [name: string]: Json })[name] as Json, name);
    this.#read.set(name, part);
    return part;
  }

  /** Refuses members that were not read, here and in every part. */
  done(): void {
    if (isObject(this.#json)) for (const name of Object.keys(this.#json)) this.must(!!this.#read?.has(name), `unknown member ${JSON.stringify(name)}`);
    this.#read?.forEach((part) => part.done());
    this.#entries?.forEach((part) => part.done());
  }

  /** The entries of a list, `length` of them where that is given, else one or more. */
  list(length?: number): readonly Node[] {
    const json = this.#json;
    this.must(Array.isArray(json) && (length ? json.length === length : json.length > 0), `not a list of ${length ?? "entries"}`);
    this.#entries = (json as readonly Json[]).map((entry) => new Node(entry, this.#what));
    return this.#entries;
  }

  isList(): boolean {
    return Array.isArray(this.#json);
  }

  /** A string that matches; `form` says what it is. */
  string(pattern: RegExp, form: string): string {
    this.must(typeof this.#json === "string" && pattern.test(this.#json), `not ${form}, as a string`);
    return this.#json as string;
  }

  choice(...choices: string[]): string {
    this.must(choices.includes(this.#json as string), `not ${choices.join(" or ")}`);
    return this.#json as string;
  }

  number(): number {
    this.must(typeof this.#json === "number", "not a number");
    return (this.#json as number) + 0; // −0 is 0
  }

  whole(low = Number.MIN_SAFE_INTEGER, high = Number.MAX_SAFE_INTEGER): number {
    const number = this.number();
    this.must(Number.isSafeInteger(number) && number >= low && number <= high, `not a whole number from ${low} to ${high}`);
    return number;
  }

  /** Numbers, each larger than the one before it: indices of `size` values where that is given. */
  ascending(size?: number): readonly number[] {
    const numbers = this.list().map((entry) => (size ? entry.whole(0, size - 1) : entry.number()));
    this.must(numbers.every((number, i) => !i || number > (numbers[i - 1] as number)), "not ascending");
    return numbers;
  }

  /** A square of whole numbers from 0 on. */
  square(size: number, high?: number): readonly (readonly number[])[] {
    return this.list(size).map((row) => row.list(size).map((entry) => entry.whole(0, high)));
  }

  /** Different labels, all strings or all whole numbers. */
  labels(length?: number): readonly (string | number)[] {
    const found = this.list(length).map((entry) => (typeof entry.#json === "string" ? entry.#json : entry.whole()));
    this.must(found.every((label) => typeof label === typeof found[0]), "not all strings or all whole numbers");
    this.must(new Set(found).size === found.length, "not all different");
    return found;
  }
}
