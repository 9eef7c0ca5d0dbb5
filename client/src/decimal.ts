/** The exact sum of decimals in plain digits, such as "0.5" and "1": "1.5". No float takes part. */
export function addDecimals(decimals: Iterable<string>): string {
  let sum = 0n;
  let places = 0;
  for (const decimal of decimals) {
    const parts = /^(\d+)(?:\.(\d+))?$/.exec(decimal);
    if (!parts) throw new RangeError(`not a decimal in plain digits: ${JSON.stringify(decimal)}`);
    const [, whole, fraction = ""] = parts;
    const more = Math.max(places, fraction.length);
    sum = sum * 10n ** BigInt(more - places) + BigInt(whole + fraction) * 10n ** BigInt(more - fraction.length);
    places = more;
  }
  if (!places) return sum.toString();
  const digits = sum.toString().padStart(places + 1, "0");
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, "");
}
