// Pictures of what many people with one answer would send.
import type { Report } from "../src/index.js";
import data from "./data.json" with { type: "json" };
import { svg } from "./elements.js";

type Counts = ReadonlyMap<Report, number>;
type Value = string | number;
interface Chart {
  readonly picture: SVGElement;
  readonly says: string;
}

const percent = (part: number, all: number): string => `${((100 * part) / all).toFixed(part * 10 < all ? 1 : 0)} %`;
const of = (people: number): string => `Of ${people.toLocaleString("en")} simulated people with your answer`;

function picture(width: number, height: number, label: string, children: Node[]): SVGElement {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...children);
}

function age(counts: Counts, value: Value, people: number): Chart {
  const [least, most, wide, high] = [18, 90, 5, 150];
  const top = Math.max(...counts.values());
  const bars: Node[] = [];
  for (let year = least; year <= most; year += 1) {
    const tall = (high * (counts.get(year) ?? 0)) / top;
    const kind = year === value ? "true" : "bar";
    bars.push(svg("rect", { class: kind, x: (year - least) * wide, y: 10 + high - tall, width: wide - 1, height: tall }));
  }
  for (let year = 20; year <= most; year += 10) {
    bars.push(svg("text", { x: (year - least + 0.45) * wide, y: high + 28, "text-anchor": "middle" }, String(year)));
  }
  bars.push(svg("path", { class: "axis", d: `M0 ${high + 10.5}H${(most - least + 1) * wide}` }));
  const within = [...counts].reduce((sum, [year, n]) => sum + (Math.abs(Number(year) - Number(value)) <= 10 ? n : 0), 0);
  const says = `${of(people)}, ${value}, ${percent(counts.get(value) ?? 0, people)} would send ${value} and ${percent(within, people)} an age within ten years of it.`;
  return { picture: picture((most - least + 2) * wide, high + 34, `How often each age would be sent. ${says}`, bars), says };
}

function way(counts: Counts, value: Value, people: number): Chart {
  const [row, from, long] = [30, 105, 210];
  const top = Math.max(...counts.values());
  const bars = data.ways.flatMap((name, i) => {
    const n = counts.get(name) ?? 0;
    return [
      svg("text", { x: 0, y: i * row + 20 }, name),
      svg("rect", { class: name === value ? "true" : "bar", x: from, y: i * row + 5, width: (long * n) / top, height: row - 10 }),
      svg("text", { x: from + 8 + (long * n) / top, y: i * row + 20 }, percent(n, people)),
    ];
  });
  const says = `${of(people)}, “${value}”, ${percent(counts.get(value) ?? 0, people)} would send it; the others, all equally likely, share the rest.`;
  return { picture: picture(from + long + 55, data.ways.length * row, `How often each way would be sent. ${says}`, bars), says };
}

const { width, height, coasts } = data.map;
const background = (): Node[] => [
  svg("rect", { class: "sea", width, height }),
  svg("path", { class: "land", d: coasts }),
];
const ring = (name: Value): Node[] =>
  data.towns.filter(([town]) => town === name).map(([, x, y]) => svg("circle", { class: "ring", cx: x ?? 0, cy: y ?? 0, r: 9 }));

function town(counts: Counts, value: Value, people: number): Chart {
  const circles = data.towns.map(([name, x, y]) => {
    const share = (counts.get(name ?? "") ?? 0) / people;
    return svg("circle", { class: "share", cx: x ?? 0, cy: y ?? 0, r: 60 * Math.sqrt(share) });
  });
  const says = `${of(people)}, ${value}, ${percent(counts.get(value) ?? 0, people)} would send ${value}. All large circles are equally likely, ${value} among them, and so are all small ones.`;
  return { picture: picture(width, height, `How often each town would be sent, as circles on a map. ${says}`, [...background(), ...circles, ...ring(value)]), says };
}

/** The towns to choose from; the list beside it does the same for who does not see or touch it. */
function map(value: string): SVGElement {
  const dots = data.towns.map(([, x, y]) => svg("circle", { class: "dot", cx: x ?? 0, cy: y ?? 0, r: 4.5 }));
  return picture(width, height, `A map of ${data.towns.length} towns of Europe; ${value} is marked`, [...background(), ...dots, ...ring(value)]);
}

/** The town nearest to where the map was tapped. */
function nearest(event: MouseEvent): string {
  const box = (event.currentTarget as HTMLElement).querySelector("svg")?.getBoundingClientRect();
  if (!box) return "";
  const [x, y] = [((event.clientX - box.left) * width) / box.width, ((event.clientY - box.top) * height) / box.height];
  const distance = (place: (string | number)[]): number => Math.hypot(Number(place[1]) - x, Number(place[2]) - y);
  return String([...data.towns].sort((one, other) => distance(one) - distance(other))[0]?.[0]);
}

export const charts = { age, way, town, map, nearest };
