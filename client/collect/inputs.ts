// The input that fits a domain: a number, a few choices to press, or many to choose from.
import { element } from "../demo/elements.js";

/** What the person sees, and what they have answered: a value of the domain as the draw takes it. */
export interface Input {
  readonly shown: HTMLElement;
  readonly value: () => unknown;
}

type Label = string | number;
interface Values {
  readonly labels?: readonly Label[];
  readonly size?: number;
  readonly start?: number;
  readonly ranks?: readonly unknown[];
  readonly vectors?: readonly unknown[];
}

/** A domain as a spec writes it. Studies ask several values as a record, never as a product. */
export interface DomainJson {
  readonly integers?: readonly [number, number];
  readonly interval?: readonly [number, number];
  readonly cyclic?: Values;
  readonly items?: Values;
  readonly points?: Values;
}

const PRESSED = 7; // so many choices are seen at once; more are a list to open
let made = 0;

export function inputOf(domain: DomainJson): Input {
  if (domain.interval) return number(domain.interval, "any");
  const values = domain.cyclic ?? domain.items ?? domain.points ?? {};
  const start = values.start ?? 0;
  const size = values.size ?? (values.ranks ?? values.vectors ?? []).length;
  const [low, high] = domain.integers ?? [start, start + size - 1];
  const few = high - low < PRESSED;
  const labels = values.labels ?? (few ? Array.from({ length: high - low + 1 }, (_, i) => low + i) : undefined);
  if (!labels) return number([low, high], "1");
  return few ? pressed(labels) : list(labels);
}

function number([low, high]: readonly [number, number], step: "1" | "any"): Input {
  const input = element("input", { type: "number", required: "", min: low, max: high, step, autocomplete: "off" });
  input.onwheel = () => input.blur(); // scrolling would change the answer
  // Keyboards of digits alone have no sign on some phones.
  if (low >= 0) input.inputMode = step === "1" ? "numeric" : "decimal";
  const kind = step === "1" ? "A whole number" : "A number";
  return { shown: element("label", {}, `${kind} from ${low} to ${high} `, input), value: () => input.valueAsNumber };
}

// Unanswered is not invalid: else screen readers say so of each choice, before anybody has answered.
function pressed(labels: readonly Label[]): Input {
  const name = `choice-${(made += 1)}`;
  const inputs = labels.map((_, i) => element("input", { type: "radio", name, value: i, required: "", "aria-invalid": "false", autocomplete: "off" }));
  const choices = labels.map((label, i) => element("label", { class: "choice", dir: "auto" }, inputs[i] as Node, String(label)));
  return { shown: element("div", { class: "row" }, ...choices), value: () => labels[inputs.findIndex(({ checked }) => checked)] };
}

function list(labels: readonly Label[]): Input {
  const select = element("select", { required: "", "aria-invalid": "false", autocomplete: "off" }, element("option", { value: "" }, "Choose …"));
  labels.forEach((label, i) => select.append(element("option", { value: i }, String(label))));
  return { shown: element("label", {}, `One of ${labels.length} answers `, select), value: () => (select.value ? labels[Number(select.value)] : undefined) };
}

/** Inputs under the words that ask for them. */
export function group(words: string, ...shown: (Node | string)[]): HTMLElement {
  return element("fieldset", {}, element("legend", { dir: "auto" }, words), ...shown);
}
