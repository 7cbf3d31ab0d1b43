/** Formats numbers for people. */

/** Formats a bitrate of a ladder in Mbit/s: `0.3`, `1.85`, `120`. */
export function bitrate(bps: number): string {
  return String(Number((bps / 1e6).toPrecision(3)));
}

/** Formats a measured throughput in Mbit/s with about two digits: `0.31`, `2.5`, `31`, `120`. */
export function megabits(bps: number): string {
  const mbps = bps / 1e6;
  const digits = mbps < 9.95 ? 1 : 0;
  return mbps > 0 && mbps < 0.95 ? mbps.toFixed(2).replace(/0$/, '') : mbps.toFixed(digits).replace(/\.0$/, '');
}

/** Formats received data as `38 MB` or `1.2 GB`. */
export function bytes(bits: number): string {
  const megabytes = bits / 8e6;
  const isLarge = megabytes >= 999.5;
  const value = isLarge ? megabytes / 1000 : megabytes;
  return `${value.toFixed(value < 9.95 ? 1 : 0)}\u00a0${isLarge ? 'GB' : 'MB'}`;
}

/** Formats 65 seconds as `1:05`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** Formats seconds as `9.3 s`, with a no-break space. */
export function seconds(value: number, digits = 1): string {
  return `${value.toFixed(digits)}\u00a0s`;
}

/** Formats a number with one decimal and a minus sign instead of a hyphen. */
export function decimal(value: number, digits = 1): string {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** Formats a share as `97 %`, with a no-break space. Only a share of 1 is 100 %. */
export function percent(share: number): string {
  return `${share < 1 ? Math.min(99, Math.round(100 * share)) : 100}\u00a0%`;
}
