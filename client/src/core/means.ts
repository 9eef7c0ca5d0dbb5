import type { Domain } from "./domain.js";
import type { Bound } from "./epsilon.js";
import { must } from "./errors.js";
import type { Node } from "./json.js";
import type { Mechanism } from "./mechanism.js";
import { type Tickets, count, keep, lottery, nearFar, readTickets, scan, sum } from "./tickets.js";
import { windowed } from "./window.js";

// Unbiased numbers. Tickets are whole; only the numbers that they stand for are doubles, computed as written.

/** A number to report, and how many tickets the value at x holds for it. */
interface Output {
  readonly number: number;
  readonly tickets: (x: number) => number;
}

export const duchi: Mechanism = (spec, domain, within) => drawn(endsOf(spec.at("ends"), domain, within));

export const piecewise: Mechanism = (spec, domain, within) => {
  const tickets = nearFar(spec.at("tickets"), within);
  const { m, stride, outputs } = windowOf(spec, domain, tickets);
  const draw = windowed(outputs.length, m, tickets);
  return (x, words) => outputs[draw(stride * x, words)]?.number as number;
};

/** The numbers of both together. Equal ones lie side by side, so that they need not be made one. */
export const hybrid: Mechanism = (spec, domain, within) => {
  const parts = spec.at("parts");
  const outputs = endsOf(parts.at("ends"), domain, within);
  if (parts.has("window")) {
    const node = parts.at("window");
    const tickets = readTickets(node, within);
    node.must(tickets.near > tickets.far, "near is not more than far");
    const window = windowOf(node, domain, tickets).outputs;
    node.must(domain.size * (window.length + 2) <= 2 ** 25, "too many outputs");
    return drawn([...outputs, ...window].sort((one, other) => one.number - other.number));
  }
  return drawn(outputs);
};

/** Draws from a row of tickets for all outputs. */
function drawn(outputs: readonly Output[]): ReturnType<Mechanism> {
  const row = (x: number): number[] => outputs.map(({ tickets }) => tickets(x));
  const draw = lottery(sum(row(0)));
  return (x, words) => outputs[scan(row(x), draw(words))]?.number as number;
}

/** Refuses outputs that are not finite, different numbers. */
function numbers(outputs: Output[]): Output[] {
  must(
    outputs.every(({ number }, i) => Number.isFinite(number) && (!i || number > (outputs[i - 1] as Output).number)),
    "interval: reports are too large or too close",
  );
  return outputs;
}

function endsOfInterval({ ends }: Domain): readonly [low: number, high: number] {
  must(!!ends, "domain: not an interval");
  return ends;
}

/** Two numbers, one beyond each end. */
function endsOf(node: Node, domain: Domain, within: Bound): Output[] {
  const [low, high] = endsOfInterval(domain);
  const steps = domain.size - 1;
  must(steps < 2 ** 24, "domain: too many points");
  const least = count(node.at("least"));
  const step = count(node.at("step"));
  const all = step * steps;
  lottery(2 * least + all);
  keep(within, least + all, least);
  const reach = (high / 2 - low / 2) * ((2 * least + all) / all);
  return numbers([
    { number: low / 2 + high / 2 - reach, tickets: (x) => least + step * (steps - x) },
    { number: low / 2 + high / 2 + reach, tickets: (x) => least + step * x },
  ]);
}

/** Numbers at equal steps, of which m from stride·x on hold near tickets. */
function windowOf(node: Node, domain: Domain, { near, far }: Tickets): { m: number; stride: number; outputs: Output[] } {
  const [low, high] = endsOfInterval(domain);
  const steps = domain.size - 1;
  const m = node.at("m").whole(1, 2 ** 22);
  const stride = node.at("stride").whole(1, 2 ** 22);
  const length = stride * steps + m;
  node.must(length <= 2 ** 22, "too many outputs");
  const total = m * near + (length - m) * far;
  lottery(total);
  const step = ((high - low) / steps) * ratio(BigInt(total), BigInt(near - far) * BigInt(m) * BigInt(stride));
  const outputs = Array.from({ length }, (_, y) => ({
    number: low / 2 + high / 2 + step * (y - (length - 1) / 2),
    tickets: (x: number) => (y >= stride * x && y < stride * x + m ? near : far),
  }));
  return { m, stride, outputs: numbers(outputs) };
}

/** The double nearest to p/q. */
function ratio(p: bigint, q: bigint): number {
  const bits = (number: bigint): number => number.toString(2).length;
  const shift = 61 - bits(p) + bits(q); // so that the quotient lies between 2⁶⁰ and 2⁶²
  const scaled = p << BigInt(shift);
  return Number((scaled / q) | (scaled % q ? 1n : 0n)) * 2 ** -shift;
}
