/** The plugin's own keys of CMCD (CTA-5004): added to the value that the player writes. docs/plugin.md lists them. */

import type { Forecast, QuantileForecast } from '../../abr/forecast.ts';

/** CTA-5004: the prefix of custom keys has a hyphen. */
const PREFIX = 'leo.abr-';
const HEADER = 'CMCD-Request';
const LEVEL = 0.1;
/** The keys with their values; a string may have commas. */
const MEMBERS = /("(\\.|[^"\\])*"|[^,])+/g;

/**
 * The URL of a request with the keys in its query argument `CMCD`, if it has one; `headers` get them in the header
 * `CMCD-Request`, if it is there.
 */
export function withCmcd(
  forecast: Forecast,
  utcMs: number | undefined,
  url: string,
  headers?: Record<string, string> | null,
): string {
  const next = forecast.handovers.find(({ atMs }) => atMs > utcMs!);
  const added = [
    forecast.kind === 'path' ? '' : `${PREFIX}cap=${Math.round(lowBps(forecast) / 1000)}`,
    next && `${PREFIX}ho=${((next.atMs - utcMs!) / 1000).toFixed(1)}`,
    // A string of a structured field may have these characters unescaped. CTA-5004 ends its strings at 64.
    `${PREFIX}src="${forecast.source.replace(/[^ !#-[\]-~]/g, '').slice(0, 64)}"`,
  ];
  // A request that is repeated may have the keys already. CTA-5004 asks for alphabetical order.
  const extended = (value: string) =>
    value.includes(PREFIX) ? value : `${value},${added}`.match(MEMBERS)!.sort().join();
  if (headers?.[HEADER]) headers[HEADER] = extended(headers[HEADER]);
  return url.replace(
    /([?&]CMCD=)([^&#]+)/,
    (_, name, value) => name + encodeURIComponent(extended(decodeURIComponent(value))),
  );
}

function lowBps({ levels, quantilesBps }: QuantileForecast): number {
  return quantilesBps[0]!.filter((_, i) => !i || levels[i]! <= LEVEL).pop()!;
}
