/** Formats numbers for readers: a typographic minus, a fixed number of digits, the interval after its value. */

import type { Estimate } from '../../replay/results.ts';

export type Cell = string | { text: string; strong: boolean };

export const cellText = (cell: Cell) => (typeof cell === 'string' ? cell : cell.text);
export const isStrong = (cell: Cell) => typeof cell !== 'string' && cell.strong;

/** Stands for a value that does not apply or is unknown. */
const NOTHING = '–';

export function fixed(value: number | null | undefined, digits: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  // Zero has no sign.
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace('-', '') : text).replace('-', '−');
}

export function signed(value: number, digits: number): string {
  return `${Number(value.toFixed(digits)) > 0 ? '+' : ''}${fixed(value, digits)}`;
}

/** Formats `+1.2 (−0.3 to +2.7)`. A difference has signs, and is strong if its 95 % interval excludes 0. */
export function estimateCell(
  estimate: Estimate | null | undefined,
  { digits, isDifference = true }: { digits: number; isDifference?: boolean },
): Cell {
  if (estimate === null || estimate === undefined) return NOTHING;
  const number = (value: number) => (isDifference ? signed(value, digits) : fixed(value, digits));
  const { value, ci95 } = estimate;
  if (ci95 === null) return number(value);
  // The interval may be a point at this number of digits.
  const ends = ci95.map(number);
  const isPoint = ends.every((end) => end === number(value));
  const text = isPoint ? number(value) : `${number(value)} (${ends.join(' to ')})`;
  return { text, strong: isDifference && excludesZero(estimate) };
}

export function excludesZero({ ci95 }: Estimate): boolean {
  return ci95 !== null && (ci95[0] > 0 || ci95[1] < 0);
}

/** The estimate in another unit. A negative factor turns a cost into a contribution. */
export function scaled({ value, ci95 }: Estimate, factor: number): Estimate {
  const ends = ci95?.map((end) => end * factor + 0).sort((a, b) => a - b);
  return { value: value * factor + 0, ci95: ends ? [ends[0]!, ends[1]!] : null };
}

export function count(n: number, noun: string): string {
  return `${n} ${n === 1 ? noun : `${noun}s`}`;
}

/** The fields of an object. Fields of objects in it and in its lists are named `live.qoe`, `parts.0.sessions`. */
export function flatFields(of: object, prefix = ''): Record<string, unknown> {
  const entries = Object.entries(of).flatMap(([name, value]): [string, unknown][] => {
    const isPlain =
      typeof value !== 'object' || value === null || (Array.isArray(value) && typeof value[0] !== 'object');
    return isPlain ? [[prefix + name, value]] : Object.entries(flatFields(value, `${prefix}${name}.`));
  });
  return Object.fromEntries(entries);
}
