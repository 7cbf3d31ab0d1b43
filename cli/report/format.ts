/** Numbers for readers: a typographic minus, a fixed number of digits, the interval after its value. */

import type { Estimate } from '../../replay/results.ts';
import type { Cell } from './document.ts';

/** Shown for a value that does not apply or is unknown. */
export const NOTHING = '–';

export function fixed(value: number | null | undefined, digits: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  // No "−0.00".
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace('-', '') : text).replace('-', '−');
}

export function signed(value: number, digits: number): string {
  const text = fixed(value, digits);
  return Number.isFinite(value) && Number(value.toFixed(digits)) > 0 ? `+${text}` : text;
}

export function percent(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined || !Number.isFinite(value) ? NOTHING : `${fixed(100 * value, digits)} %`;
}

/** `+1.2 (−0.3 to +2.7)`; strong where a 95 % interval lies on one side of `against` (default 0). */
export function estimateCell(
  estimate: Estimate | null | undefined,
  { digits, plus = true, against = 0 }: { digits: number; plus?: boolean; against?: number },
): Cell {
  if (estimate === null || estimate === undefined) return NOTHING;
  const number = (value: number) => (plus ? signed(value, digits) : fixed(value, digits));
  const { value, ci95 } = estimate;
  if (ci95 === null) return number(value);
  const [low, high] = ci95;
  // At this number of digits the interval is a point.
  if (number(low) === number(value) && number(high) === number(value)) {
    return { text: number(value), strong: low > against || high < against };
  }
  return {
    text: `${number(value)} (${number(low)} to ${number(high)})`,
    strong: low > against || high < against,
  };
}

/** The estimate with the opposite sign: a cost as a contribution. */
export function turned({ value, ci95 }: Estimate): Estimate {
  return { value: 0 - value, ci95: ci95 && [0 - ci95[1], 0 - ci95[0]] };
}

/** The estimate in another unit; `factor` is above 0. */
export function scaled({ value, ci95 }: Estimate, factor: number): Estimate {
  return { value: value * factor, ci95: ci95 && [ci95[0] * factor, ci95[1] * factor] };
}

/** Digits to show of a QoE: hundredths of Mbit/s on large ladders, thousandths on small ones. */
export function qoeDigits(topBps: number): number {
  return topBps >= 10e6 ? 2 : 3;
}

export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n} ${n === 1 ? noun : plural}`;
}
