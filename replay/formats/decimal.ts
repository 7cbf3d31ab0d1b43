/** Parses decimal numbers within a long text, without a string per number. */

/** 10^0 .. 10^22: the powers of ten that a double holds exactly. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * The finite decimal number in `text[start, end)` without surrounding spaces; NaN for anything else. Plain decimals of
 * up to 15 digits are an integer below 2^53 divided by an exact power of ten, which is correctly rounded (Clinger,
 * PLDI'90); all others go through `Number`.
 */
export function decimalAt(text: string, start: number, end: number): number {
  let at = start;
  const negative = text.charCodeAt(at) === 45;
  if (negative) at++;
  let digits = 0;
  let decimals = 0;
  let value = 0;
  let pointSeen = false;
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) {
      value = value * 10 + (code - 48);
      digits++;
      if (pointSeen) decimals++;
    } else if (code === 46 && !pointSeen) pointSeen = true;
    else return slowDecimal(text.slice(start, end));
  }
  if (digits === 0) return Number.NaN;
  if (digits > 15) return slowDecimal(text.slice(start, end));
  const magnitude = value / POWERS_OF_TEN[decimals]!;
  return negative ? -magnitude : magnitude;
}

function slowDecimal(text: string): number {
  // Number() alone would accept '', '0x10' and 'Infinity'.
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : Number.NaN;
}
