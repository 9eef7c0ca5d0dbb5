/** A report as it is sent: JSON. */
export type Report = number | string | boolean | null | readonly Report[] | { readonly [name: string]: Report };
