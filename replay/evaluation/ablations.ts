/**
 * The algorithms of a benchmark that are variants of another one in it: `mpc-l:no-handover`, `mpc-l@oracle`,
 * `mpc-d:abandon`. `of` is the variant's name up to its first `:` or `@`.
 */
export function ablationsAmong(algorithms: readonly string[]): { variant: string; of: string }[] {
  return algorithms.flatMap((variant) => {
    const of = /^[^:@]+/.exec(variant)?.[0];
    return of !== undefined && of !== variant && algorithms.includes(of) ? [{ variant, of }] : [];
  });
}
