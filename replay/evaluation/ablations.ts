/** Which algorithms of a benchmark are another one with something taken away, added or exchanged. */

export interface Ablation {
  /** As on the command line: `mpc-l:no-handover`, `mpc-l@oracle`, `mpc-d:abandon`. */
  variant: string;
  /** What it varies: the name up to its first `:` or `@`. */
  of: string;
}

/** Variants whose algorithm is among the names too, in their order. */
export function ablationsAmong(algorithms: readonly string[]): Ablation[] {
  return algorithms.flatMap((variant) => {
    const of = /^[^:@]+/.exec(variant)?.[0];
    return of !== undefined && of !== variant && algorithms.includes(of) ? [{ variant, of }] : [];
  });
}
