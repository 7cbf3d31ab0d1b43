/** Gives each algorithm a colour and a symbol for every figure. Variants have the colour of their base. */

import { remembered } from '../../replay/remembered.ts';
import type { SeriesStyle } from './document.ts';

/** These algorithms have the same colour in every report: `--series-<n>` of `page-style.ts`. */
const KNOWN_COLORS = ['mpc-d', 'mpc-l', 'mpc-o', 'dynamic', 'bola', 'throughput'];
const COLOR_COUNT = 8;

const SYMBOLS: readonly SeriesStyle['symbol'][] = ['circle', 'square', 'triangle', 'diamond', 'star', 'wye', 'cross'];

export function seriesStyles(algorithms: readonly string[]): Map<string, SeriesStyle> {
  const colors = new Map(KNOWN_COLORS.map((name, color) => [name, color]));
  const variants = new Map<string, number>();
  return new Map(
    algorithms.map((algorithm) => {
      const base = /^[^:@]+/.exec(algorithm)?.[0] ?? algorithm;
      const color = remembered(colors, base, () => colors.size % COLOR_COUNT);
      // Variants of one base differ by symbol. Bases differ by colour and symbol.
      const variant = variants.get(base) ?? 0;
      variants.set(base, variant + 1);
      return [algorithm, { color: `var(--series-${color})`, symbol: SYMBOLS[(color + variant) % SYMBOLS.length]! }];
    }),
  );
}
