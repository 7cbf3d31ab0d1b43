/** Colour, dash and symbol of each algorithm, the same in every figure. Variants have the colour of their base. */

import { remembered } from '../../replay/remembered.ts';
import type { SeriesStyle } from './document.ts';

/** `--series-<n>` of `page-style.ts`. These algorithms have the same colour in every report. */
const KNOWN_COLORS: Readonly<Record<string, number>> = {
  'mpc-d': 0,
  'mpc-l': 1,
  'mpc-o': 2,
  dynamic: 3,
  bola: 4,
  throughput: 5,
};
const COLOR_COUNT = 8;
const FIRST_FREE_COLOR = 6;

const DASHES: readonly (string | undefined)[] = [undefined, '7 3', '2 3', '9 3 2 3', '4 2', '1 2', '12 4'];
const SYMBOLS: readonly SeriesStyle['symbol'][] = ['circle', 'square', 'triangle', 'diamond', 'star', 'wye', 'cross'];

/** A style per algorithm, in the order given. */
export function seriesStyles(algorithms: readonly string[]): Map<string, SeriesStyle> {
  const styles = new Map<string, SeriesStyle>();
  const colors = new Map<string, number>();
  const variants = new Map<string, number>();
  let free = FIRST_FREE_COLOR;
  for (const algorithm of algorithms) {
    const base = /^[^:@]+/.exec(algorithm)?.[0] ?? algorithm;
    const color = remembered(colors, base, () => KNOWN_COLORS[base] ?? free++ % COLOR_COUNT);
    // Variants of a base differ by dash and symbol, bases by all three.
    const variant = variants.get(base) ?? 0;
    variants.set(base, variant + 1);
    const turn = base === algorithm && variant === 0 ? color : color + variant;
    styles.set(algorithm, {
      color: `var(--series-${color})`,
      dash: variant === 0 ? DASHES[color % DASHES.length] : DASHES[(color + variant) % DASHES.length],
      symbol: SYMBOLS[turn % SYMBOLS.length]!,
    });
  }
  return styles;
}
