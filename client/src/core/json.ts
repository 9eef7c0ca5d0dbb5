import { sha256 } from "../sha256.js";
import { SpecError, must } from "./errors.js";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const isObject = (json: Json): json is { readonly [name: string]: Json } => typeof json === "object" && json !== null && !Array.isArray(json);

/** A JSON text and the hash of its canonical form (RFC 8785), without repeated keys, infinite numbers and halves of characters. */
export function readJson(text: string): { readonly root: Node; readonly hash: string } {
  must(typeof text === "string", "not a text");
  let keys = 0;
  const { add, end } = sha256();
  const write = (json: Json): void => {
    if (isObject(json)) {
      const names = Object.keys(json).sort();
      keys += names.length;
      add("{");
      names.forEach((name, i) => {
        if (i) add(",");
        write(name);
        add(":");
        write(json[name] as Json);
      });
      add("}");
    } else if (Array.isArray(json)) {
      add("[");
      // Most of a long spec is rows of numbers, and `join` writes them as RFC 8785 has them.
      if (json.every(Number.isFinite)) add(json.join());
      else json.forEach((entry, i) => {
        if (i) add(",");
        write(entry);
      });
      add("]");
    } else {
      must(typeof json !== "number" || Number.isFinite(json), "a number is too large");
      must(typeof json !== "string" || !/\p{Surrogate}/u.test(json), "a string holds half a character");
      add(JSON.stringify(json));
    }
  };
  try {
    const json = JSON.parse(text) as Json;
    write(json);
    // A colon outside strings follows a key: the text must have as many as were kept.
    let quoted = false;
    for (let i = 0; i < text.length; i += 1) {
      const character = text[i];
      if (character === '"') quoted = !quoted;
      else if (character === "\\") i += 1;
      else if (character === ":" && !quoted) keys -= 1;
    }
    must(!keys, "a key is repeated");
    return { root: new Node(json, "spec"), hash: end() };
  } catch (error) {
    if (error instanceof SpecError) throw error;
    throw new SpecError(error instanceof SyntaxError ? "the text is not JSON" : "the text is too deep or too long");
  }
}

/** A part of a spec, read strictly: what is missing is refused when it is asked for, and what nobody asked for by `done`. */
export class Node {
  readonly #json: Json;
  readonly #what: string;
  #read: Map<string, Node> | undefined;

  constructor(json: Json, what: string) {
    this.#json = json;
    this.#what = what;
  }

  /** Refuses the spec unless something holds of this part. */
  must(holds: boolean, why: string): void {
    if (!holds) throw new SpecError(`${this.#what}: ${why}`);
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
  }

  /** What `read` makes of each entry of a list: `length` of them where that is given, else one or more. */
  list<T>(read: (entry: Node, at: number) => T, length?: number): readonly T[] {
    return this.#list(length).map((json, at) => {
      const entry = new Node(json, this.#what);
      const made = read(entry, at);
      entry.done();
      return made;
    });
  }

  #list(length?: number): readonly Json[] {
    this.must(length ? this.length() === length : this.length() > 0, `not a list of ${length ?? "entries"}`);
    return this.#json as readonly Json[];
  }

  /** Of a list how many entries it has; 0 if this is none. */
  length(): number {
    return Array.isArray(this.#json) ? this.#json.length : 0;
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

  whole(low?: number, high?: number): number {
    return (this.#wholes([this.#json], low, high)[0] as number) + 0;
  }

  /** Whole numbers, `length` of them. There may be millions: this is the list that was read, and −0 may stand in it. */
  wholes(length: number, low?: number, high?: number): readonly number[] {
    return this.#wholes(this.#list(length), low, high);
  }

  #wholes(numbers: readonly Json[], low = Number.MIN_SAFE_INTEGER, high = Number.MAX_SAFE_INTEGER): readonly number[] {
    const fits = (number: Json): boolean => Number.isSafeInteger(number) && (number as number) >= low && (number as number) <= high;
    this.must(numbers.every(fits), `not a whole number from ${low} to ${high}`);
    return numbers as readonly number[];
  }

  /** Numbers, each larger than the one before it: indices of `size` values where that is given. */
  ascending(size?: number): readonly number[] {
    const numbers = this.list((entry) => (size ? entry.whole(0, size - 1) : entry.number()));
    this.must(numbers.every((number, i) => !i || number > (numbers[i - 1] as number)), "not ascending");
    return numbers;
  }

  /** A square of whole numbers from 0 on. */
  square(size: number, high?: number): readonly (readonly number[])[] {
    return this.list((row) => row.wholes(size, 0, high), size);
  }

  /** Different labels, all strings or all whole numbers. */
  labels(length?: number): readonly (string | number)[] {
    const found = this.list((entry) => (typeof entry.#json === "string" ? entry.#json : entry.whole()), length);
    this.must(found.every((label) => typeof label === typeof found[0]), "not all strings or all whole numbers");
    this.must(new Set(found).size === found.length, "not all different");
    return found;
  }
}
