/** Converters of pings: recordings without rates. */

import { InputError } from '../../abr/errors.ts';
import { median } from '../../abr/quantile.ts';
import { decimalOf, linesOf } from '../formats/lines.ts';
import { placeOf } from '../formats/place.ts';
import { type Converter, gridSeconds, type SourceFile, samplesOf, textOf } from './recording.ts';

/** Lines of a Unix time in s, a number and a round-trip time in ms. */
export const pingLines: Converter = (file) => {
  const { startUtcMs, offsetsSeconds, rttMs } = pings(file, { separator: '\t', rtt: 2, stampSeconds: 1 });
  return [{ name: file.name, startUtcMs, samples: samplesOf({ timesSeconds: offsetsSeconds, rttMs }) }];
};

/** Lines of a Unix time in ns and a round-trip time in ms, about every 10 ms: the median per 0.1 s. */
export const pingMedians: Converter = (file) => {
  const { startUtcMs, offsetsSeconds, rttMs } = pings(file, { separator: ',', rtt: 1, stampSeconds: 1e-9 });
  const bins: number[][] = [];
  offsetsSeconds.forEach((offset, i) => {
    const bin = Math.floor(offset * 10);
    bins[bin] ??= [];
    bins[bin].push(rttMs[i]!);
  });
  const filled = gridSeconds(bins.length, 1).filter((bin) => bins[bin] !== undefined);
  const timesSeconds = filled.map((bin) => bin / 10);
  return [
    {
      name: file.name,
      startUtcMs,
      samples: samplesOf({ timesSeconds, rttMs: filled.map((bin) => median(bins[bin]!)) }),
    },
  ];
};

interface PingForm {
  separator: string;
  /** Column of the round-trip time; the first column is the time. */
  rtt: number;
  /** Seconds per unit of the first column. */
  stampSeconds: number;
}

function pings(file: SourceFile, { separator, rtt, stampSeconds }: PingForm) {
  const offsetsSeconds: number[] = [];
  const rttMs: number[] = [];
  let first: [bigint, number] | undefined;
  for (const [line, number] of linesOf(textOf(file))) {
    const cells = line.split(separator);
    // In two parts, because a Unix time in ns does not fit into one number.
    const [, whole, fraction = ''] = /^(\d+)(\.\d+)?$/.exec(cells[0]!) ?? [];
    const value = decimalOf(cells[rtt] ?? '');
    if (whole === undefined || Number.isNaN(value)) {
      throw new InputError(placeOf({ file: file.path, line: number }), 'a time and a round-trip time', line);
    }
    first ??= [BigInt(whole), Number(`0${fraction}`)];
    offsetsSeconds.push((Number(BigInt(whole) - first[0]) + Number(`0${fraction}`) - first[1]) * stampSeconds);
    rttMs.push(value);
  }
  if (first === undefined) throw new InputError(file.path, 'pings', undefined, 'an empty file');
  const startUtcMs = Math.round((Number(first[0]) + first[1]) * stampSeconds * 1000);
  return { startUtcMs, offsetsSeconds, rttMs };
}
