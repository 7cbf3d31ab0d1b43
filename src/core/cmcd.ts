/** The plugin's own keys of CMCD (CTA-5004): added to the value that the player writes. docs/plugin.md lists them. */

import type { LifeCycle } from './life-cycle.ts';

/** CTA-5004: the prefix of custom keys has a hyphen. */
const PREFIX = 'leo.abr-';
const HEADER = 'CMCD-Request';
const LEVEL = 0.1;

/**
 * The URL of a request with the keys in its query argument `CMCD`, if it has one; `headers` get them in the header
 * `CMCD-Request`, if it is there. Changes nothing without the option `cmcd`, without a forecast, and after a fault.
 */
export function withCmcd(
  { guard, options, session, clocks }: LifeCycle,
  url: string,
  headers?: Record<string, string> | null,
): string {
  const withKeys = guard(() => {
    const forecast = session().lastForecast;
    if (!options.cmcd || !forecast) return url;
    const { utcMs = Number.NaN } = clocks();
    let keys = '';
    const add = (key: string, value: string | number) => {
      keys += `,${PREFIX}${key}=${value}`;
    };
    if (forecast.kind !== 'paths') {
      const { levels, quantilesBps } = forecast;
      const lowBps = quantilesBps[0]!.filter((_, i) => !i || levels[i]! <= LEVEL);
      add('cap', Math.round(lowBps.at(-1)! / 1000));
    }
    const next = forecast.handovers.find(({ atMs }) => atMs > utcMs);
    if (next) add('ho', ((next.atMs - utcMs) / 1000).toFixed(1));
    // Only what a string of a structured field may have, unescaped.
    add('src', `"${forecast.source.replace(/[^ !#-[\]-~]/g, '')}"`);
    // A request that is repeated may have them already.
    const extended = (value: string, end: string) => (value.includes(PREFIX) ? value : value + end);
    if (headers?.[HEADER]) headers[HEADER] = extended(headers[HEADER], keys);
    return url.replace(/[?&]CMCD=[^&#]+/, (argument) => extended(argument, encodeURIComponent(keys)));
  });
  return withKeys ?? url;
}
