import type { WordSource } from "../words.js";
import type { Domain } from "./domain.js";
import type { Bound } from "./epsilon.js";
import { must } from "./errors.js";
import type { Node } from "./json.js";
import type { Mechanism } from "./mechanism.js";
import { type Tickets, count, div, extreme, lottery, nearFar, readTickets, scan, sum } from "./tickets.js";

/** Which of some places ticket u is: the own place comes first, then the others, ascending. */
const among = ({ near, far }: Tickets, place: number, u: number): number => {
  if (u < near) return place;
  const j = div(u - near, far);
  return j < place ? j : j + 1;
};

/** GRR over so many places. A single one has two tickets and one for the others, which are not there. */
export function flat(node: Node, places: number, within: Bound): (place: number, words: WordSource) => number {
  let tickets: Tickets = { near: 2, far: 1 };
  if (places > 1) tickets = nearFar(node, within);
  else node.must(count(node.at("near")) === 2 && count(node.at("far")) === 1, "not 2 and 1 for a single place");
  const draw = lottery(tickets.near + (places - 1) * tickets.far);
  return (place, words) => among(tickets, place, draw(words));
}

export const grr: Mechanism = (spec, domain, within) => {
  const draw = flat(spec.at("tickets"), domain.size, within);
  return (x, words) => domain.report(draw(x, words));
};

/** The position of the anchor nearest to x, the first of equally near ones. */
function nearestOf(anchors: readonly number[], x: number, domain: Domain): number {
  const distances = anchors.map((anchor) => domain.distance(x, anchor));
  return distances.indexOf(extreme(distances, Math.min));
}

/** Refuses domains in which distances are too many. */
export function comparable({ size, comparable: most = 2 ** 24 }: Domain): void {
  must(size <= most, "domain: too many values for this mechanism");
}

export const anchored: Mechanism = (spec, domain, within) => {
  comparable(domain);
  const anchors = spec.at("anchors").ascending(domain.size);
  const draw = flat(spec.at("tickets"), anchors.length, within);
  return (x, words) => domain.report(anchors[draw(nearestOf(anchors, x, domain), words)] as number);
};

export const minimax: Mechanism = (spec, domain, within) => {
  comparable(domain);
  const sets = spec.at("sets").list((set) => {
    const anchors = set.at("anchors").ascending(domain.size);
    const tickets = readTickets(set.at("tickets"), within);
    return { anchors, tickets, total: tickets.near + (anchors.length - 1) * tickets.far };
  });
  must(domain.size * sets.length <= 2 ** 27, "sets: too many");
  const totals = sets.map(({ total }) => total);
  const draw = lottery(sum(totals));
  return (x, words) => {
    const u = draw(words);
    const k = scan(totals, u);
    const { anchors, tickets } = sets[k] as (typeof sets)[number];
    return domain.report(anchors[among(tickets, nearestOf(anchors, x, domain), u - sum(totals.slice(0, k)))] as number);
  };
};

export const anchoredMeans: Mechanism = (spec, domain, within) => {
  must(!!domain.stretch && domain.size <= 4096, "domain: not a line, or more than 4096 values");
  const bins = spec.at("bins").ascending(domain.size);
  const outputs = spec.at("outputs").ascending();
  must(bins[0] === 0 && bins.length === outputs.length, "bins: the first is not 0, or not as many as outputs");
  must(
    (outputs[0] as number) >= (domain.report(0) as number) && (outputs.at(-1) as number) <= (domain.report(domain.size - 1) as number),
    "outputs: outside the domain",
  );
  const draw = flat(spec.at("tickets"), bins.length, within);
  return (x, words) => outputs[draw(bins.filter((bin) => bin <= x).length - 1, words)] as number;
};

export const constant: Mechanism = (spec, domain) => {
  const answer = spec.at("answer").whole(0, domain.size - 1);
  return (_x, words) => {
    words();
    return domain.report(answer);
  };
};
