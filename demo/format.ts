/** Numbers as text for people. */

/** A bitrate of a ladder in Mbit/s: `0.3`, `1.85`, `120`. */
export function bitrate(bps: number): string {
  return String(Number((bps / 1e6).toPrecision(3)));
}

/** A measured throughput in Mbit/s with about two digits: `0.31`, `2.5`, `31`, `120`. */
export function megabits(bps: number): string {
  const mbps = bps / 1e6;
  const digits = mbps < 9.95 ? 1 : 0;
  return mbps > 0 && mbps < 0.95 ? mbps.toFixed(2).replace(/0$/, '') : mbps.toFixed(digits).replace(/\.0$/, '');
}

/** `1:05` for 65 seconds. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** `9.3 s` with a no-break space. */
export function seconds(value: number, digits = 1): string {
  return `${value.toFixed(digits)}\u00a0s`;
}

/** One decimal, with a proper minus sign. */
export function decimal(value: number, digits = 1): string {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** `97 %` with a no-break space: a probability or share; only what is certain has 100 %. */
export function percent(share: number): string {
  return `${share < 1 ? Math.min(99, Math.round(100 * share)) : 100}\u00a0%`;
}
