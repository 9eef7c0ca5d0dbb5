/** A decimal in plain digits as one whole number over a power of ten. */
export function fraction(decimal: string): [above: bigint, below: bigint] {
  const [units = "", rest = ""] = decimal.split(".");
  return [BigInt(units + rest), 10n ** BigInt(rest.length)];
}

/** Whether one decimal is larger than another. */
export function exceeds(one: string, other: string): boolean {
  const [p, q] = fraction(one);
  const [r, s] = fraction(other);
  return p * s > r * q;
}

/** The exact sum of decimals in plain digits, such as "0.5" and "1": "1.5". No float takes part. */
export function addDecimals(decimals: Iterable<string>): string {
  let sum = 0n;
  let scale = 1n;
  for (const decimal of decimals) {
    if (!/^\d+(\.\d+)?$/.test(decimal)) throw new RangeError(`not a decimal in plain digits: ${JSON.stringify(decimal)}`);
    const [above, below] = fraction(decimal);
    const finer = below > scale ? below : scale;
    sum = sum * (finer / scale) + above * (finer / below);
    scale = finer;
  }
  const rest = sum % scale;
  return `${sum / scale}${rest ? `.${String(scale + rest).slice(1).replace(/0+$/, "")}` : ""}`;
}
