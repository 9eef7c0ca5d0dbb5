import type { Domain } from "./domain.js";
import type { Bound } from "./epsilon.js";
import { must } from "./errors.js";
import type { Node } from "./json.js";
import type { Mechanism, Release } from "./mechanism.js";
import { type Tickets, count, keep, lottery, nearFar, readTickets, scan, sum } from "./tickets.js";
import { windowed } from "./window.js";

// Unbiased numbers. Tickets are whole; only the numbers that they stand for are doubles, computed as written.

/** Numbers that may be reported, and how many tickets the value at x holds for each. */
interface Outputs {
  readonly length: number;
  readonly number: (y: number) => number;
  readonly tickets: (x: number, y: number) => number;
}

export const duchi: Mechanism = (spec, domain, within) => drawn(endsOf(spec.at("ends"), domain, within));

export const piecewise: Mechanism = (spec, domain, within) => {
  const tickets = nearFar(spec.at("tickets"), within);
  const { m, stride, length, number } = windowOf(spec, domain, tickets);
  const draw = windowed(length, m, tickets);
  return (x, words) => number(draw(stride * x, words));
};

/** The numbers of both together. Equal ones lie side by side, so that they need not be made one. */
export const hybrid: Mechanism = (spec, domain, within) => {
  const parts = spec.at("parts");
  const ends = endsOf(parts.at("ends"), domain, within);
  if (!parts.has("window")) return drawn(ends);
  const node = parts.at("window");
  const tickets = readTickets(node, within);
  node.must(tickets.near > tickets.far, "near is not more than far");
  const window = windowOf(node, domain, tickets);
  const length = window.length + 2;
  node.must(domain.size * length <= 2 ** 25, "too many outputs");
  return drawn({
    length,
    number: (y) => (y < 2 ? ends.number(y) : window.number(y - 2)),
    tickets: (x, y) => (y < 2 ? ends.tickets(x, y) : window.tickets(x, y - 2)),
  });
};

/** Draws from a row of tickets for all outputs, ascending. */
function drawn({ length, number, tickets }: Outputs): Release {
  const order = Array.from({ length }, (_, y) => y).sort((one, other) => number(one) - number(other));
  const row = (x: number): number[] => order.map((y) => tickets(x, y));
  const draw = lottery(sum(row(0)));
  return (x, words) => number(order[scan(row(x), draw(words))] as number);
}

function endsOfInterval({ ends }: Domain): readonly [low: number, high: number] {
  must(!!ends, "domain: not an interval");
  return ends;
}

/** Refuses outputs that are not finite, ascending numbers. */
function checked<Checked extends Outputs>(outputs: Checked): Checked {
  let last = -Infinity;
  for (let y = 0; y < outputs.length; y += 1) {
    const number = outputs.number(y);
    must(number > last && number < Infinity, "interval: reports are too large or too close");
    last = number;
  }
  return outputs;
}

/** Two numbers, one beyond each end. */
function endsOf(node: Node, domain: Domain, within: Bound): Outputs {
  const [low, high] = endsOfInterval(domain);
  const steps = domain.size - 1;
  must(steps < 2 ** 24, "domain: too many points");
  const least = count(node.at("least"));
  const step = count(node.at("step"));
  const all = step * steps;
  lottery(2 * least + all);
  keep(within, least + all, least);
  const reach = (high / 2 - low / 2) * ((2 * least + all) / all);
  return checked({
    length: 2,
    number: (y) => low / 2 + high / 2 + (y ? reach : -reach),
    tickets: (x, y) => least + step * (y ? x : steps - x),
  });
}

/** Numbers at equal steps, of which m from stride·x on hold near tickets. */
function windowOf(node: Node, domain: Domain, { near, far }: Tickets): Outputs & { readonly m: number; readonly stride: number } {
  const [low, high] = endsOfInterval(domain);
  const steps = domain.size - 1;
  const m = node.at("m").whole(1, 2 ** 22);
  const stride = node.at("stride").whole(1, 2 ** 22);
  const length = stride * steps + m;
  node.must(length <= 2 ** 22, "too many outputs");
  const total = m * near + (length - m) * far;
  lottery(total);
  const step = ((high - low) / steps) * ratio(BigInt(total), BigInt(near - far) * BigInt(m) * BigInt(stride));
  return checked({
    m,
    stride,
    length,
    number: (y) => low / 2 + high / 2 + step * (y - (length - 1) / 2),
    tickets: (x, y) => (y >= stride * x && y < stride * x + m ? near : far),
  });
}

/** The double nearest to p/q. */
function ratio(p: bigint, q: bigint): number {
  const bits = (number: bigint): number => number.toString(2).length;
  const shift = 61 - bits(p) + bits(q); // so that the quotient lies between 2⁶⁰ and 2⁶²
  const scaled = p << BigInt(shift);
  return Number((scaled / q) | (scaled % q ? 1n : 0n)) * 2 ** -shift;
}
