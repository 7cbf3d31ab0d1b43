/** Converters of sources with several samples a second. */

import { InputError, parsedJson } from '../../abr/errors.ts';
import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { linesOf } from '../formats/lines.ts';
import { placeOf } from '../formats/place.ts';
import {
  type Converter,
  gridSeconds,
  type Recording,
  ratesOnGrid,
  samplesOf,
  Table,
  textOf,
  utcMsOf,
} from './recording.ts';

/** Takes the means of two rows of 0.05 s with columns `rtt_ms` and `capacity_mbps`. The name may have a UTC start. */
export const halfStepRows: Converter = (file) => {
  const table = new Table(textOf(file), file.path, ['rtt_ms', 'capacity_mbps']);
  const pairMeans = (name: string) => {
    const values = table.numbers(name);
    return Array.from({ length: values.length >> 1 }, (_, i) => (values[2 * i]! + values[2 * i + 1]!) / 2);
  };
  const ratesMbps = pairMeans('capacity_mbps');
  const timesSeconds = gridSeconds(ratesMbps.length, 0.1);
  const utc = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(file.name);
  const [, year, month, day, hour, minute, second] = (utc ?? []).map(Number);
  return [
    {
      name: file.name,
      startUtcMs: utc ? Date.UTC(year!, month! - 1, day, hour, minute, second) : undefined,
      samples: samplesOf({ timesSeconds, ratesMbps, rttMs: pairMeans('rtt_ms') }),
    },
  ];
};

interface IperfReport {
  start?: { timestamp?: { timesecs?: unknown }; test_start?: { reverse?: unknown } };
  intervals?: { sum?: { bits_per_second?: unknown } }[];
}

/** Converts the JSON of `iperf3 -J --reverse` with intervals of 0.1 s and a start in whole seconds. Skips uplinks. */
export const iperfJson: Converter = (file) => {
  const wrong = (field: string, expected: string, value: unknown) =>
    new InputError(placeOf({ file: file.path, field }), expected, value);
  const json = parsedJson(textOf(file), file.path, 'the JSON of iperf3') as IperfReport;
  const startSeconds = json?.start?.timestamp?.timesecs;
  if (typeof startSeconds !== 'number') throw wrong('start.timestamp.timesecs', 'a Unix time', startSeconds);
  if (json.start?.test_start?.reverse === 0) return [];
  if (!Array.isArray(json.intervals)) throw wrong('intervals', 'an array', json.intervals);
  const ratesMbps = json.intervals.map(({ sum }, i) => {
    if (typeof sum?.bits_per_second === 'number') return sum.bits_per_second / 1e6;
    throw wrong(`intervals[${i}].sum.bits_per_second`, 'a number', sum?.bits_per_second);
  });
  const timesSeconds = gridSeconds(ratesMbps.length, 0.1);
  return [{ name: file.name, startUtcMs: startSeconds * 1000, samples: samplesOf({ timesSeconds, ratesMbps }) }];
};

/** Bins below this rate at the beginning and the end are not part of the transfer, in Mbit/s. */
const IDLE_MBPS = 1;

/** Converts the NIC's counter of received bytes: readings of `ip -s link` after a Unix time, about every 0.104 s. */
export const nicCounter: Converter = (file) => {
  const seconds: number[] = [];
  const cumulativeBits: number[] = [];
  let baseSeconds = 0;
  let previous = '';
  for (const [line] of linesOf(textOf(file))) {
    const [, whole, fraction] = /^(\d{9,})(\.\d+)$/.exec(line) ?? [];
    if (whole !== undefined) {
      baseSeconds ||= Number(whole);
      // The fraction stays apart, because a Unix time would round it to 0.2 us.
      seconds.push(Number(whole) - baseSeconds + Number(fraction));
    } else if (previous.startsWith('RX:')) cumulativeBits.push(Number(line.split(' ')[0]) * 8);
    previous = line;
  }
  if (seconds.length < 2 || seconds.length !== cumulativeBits.length || cumulativeBits.some(Number.isNaN)) {
    const got = `${seconds.length} times, ${cumulativeBits.length} counters`;
    throw new InputError(file.path, 'a time and a counter of bytes (RX) per reading', undefined, got);
  }
  const firstStep = Math.ceil(seconds[0]! * 10);
  const grid = { startSeconds: firstStep / 10, stepSeconds: 0.1, count: Math.floor(seconds.at(-1)! * 10) - firstStep };
  const all = ratesOnGrid({ timesSeconds: seconds, cumulativeBits }, grid);
  const busy = gridSeconds(all.length, 1).filter((bin) => all[bin]! >= IDLE_MBPS);
  const from = busy[0];
  if (from === undefined) throw new InputError(file.path, 'a transfer', undefined, 'an idle link');
  const ratesMbps = all.slice(from, busy.at(-1)! + 1);
  const samples = samplesOf({ timesSeconds: gridSeconds(ratesMbps.length, 0.1), ratesMbps });
  return [{ name: file.name, startUtcMs: baseSeconds * 1000 + (firstStep + from) * 100, samples }];
};

const UNITS_MBPS: Readonly<Record<string, number>> = { '': 1e-6, K: 1e-3, M: 1, G: 1e3 };

/** Converts stamped, buffered output of nuttcp or iperf3 (Eastern Daylight Time), with the earliest possible start. */
export const stampedOutput: Converter = (file) => {
  const ratesMbps: number[] = [];
  const loss: number[] = [];
  let startUtcMs = Infinity;
  for (const [line] of linesOf(textOf(file))) {
    const tcp = / sec =\s+([\d.]+) Mbps\s+\d+ retrans/.exec(line);
    const udp = /([\d.]+)-([\d.]+)\s+sec\s.*\s([\d.]+) ([KMG]?)bits\/sec\s.*\s(\d+)\/(\d+) /.exec(line);
    // The totals at the end cover all intervals.
    if (tcp === null && (udp === null || Number(udp[2]) - Number(udp[1]) >= 1)) continue;
    ratesMbps.push(tcp ? Number(tcp[1]) : Number(udp![3]) * UNITS_MBPS[udp![4]!]!);
    if (udp) loss.push(Number(udp[5]) / Number(udp[6]));
    const stampMs = utcMsOf(line.slice(1), -4);
    if (Number.isNaN(stampMs)) throw new InputError(file.path, 'a time at the beginning of each line', line);
    startUtcMs = Math.min(startUtcMs, stampMs - ratesMbps.length * 500);
  }
  if (ratesMbps.length === 0) throw new InputError(file.path, 'output of nuttcp or iperf3', undefined, 'no interval');
  const timesSeconds = gridSeconds(ratesMbps.length, 0.5);
  const samples = samplesOf({ timesSeconds, ratesMbps, ...(loss.length > 0 && { loss }) });
  return [{ name: file.name, startUtcMs: Math.round(startUtcMs), samples }];
};

const PART_ROWS = 9000;
/** A shorter remainder is left out. */
const MIN_PART_ROWS = 600;
/** The source's rates lead its delays by 1.5 s: their stamps have a resolution of 1 s. */
const RATE_SHIFT_ROWS = 15;

/**
 * Converts rows of 0.1 s without a header: Mbit/s up and down, one-way delays up and down in ms, loss up and down, ms.
 * The authors joined epochs of 15 s from second 0 of the minute. The recordings are parts of 15 minutes.
 */
export const joinedEpochs: Converter = (file) => {
  const header = 'up,down,up_ms,down_ms,up_loss,down_loss,ms';
  const table = new Table(`${header}\n${textOf(file)}`, file.path, header.split(','));
  const [rates, upMs, downMs, loss] = ['down', 'up_ms', 'down_ms', 'down_loss'].map((name) => table.numbers(name));
  const recordings: Recording[] = [];
  for (let from = 0; rates!.length - from >= MIN_PART_ROWS; from += PART_ROWS) {
    const rows = Array.from({ length: Math.min(PART_ROWS, rates!.length - from) }, (_, i) => from + i);
    recordings.push({
      name: `${file.name}-${String(recordings.length).padStart(2, '0')}`,
      epochPhaseSeconds: 0,
      samples: samplesOf({
        timesSeconds: gridSeconds(rows.length, 0.1),
        ratesMbps: rows.map((row) => rates![row - RATE_SHIFT_ROWS] ?? Number.NaN),
        rttMs: rows.map((row) => upMs![row]! + downMs![row]!),
        loss: rows.map((row) => loss![row]!),
      }),
    });
  }
  return recordings;
};

/** The second modulo 15 of the deepest 0.1 s in a recording's mean profile of epochs: its handovers' dips. */
export function deepestPhaseSeconds({ samples }: Recording): number {
  const bins = EPOCH_SECONDS * 10;
  const sums = new Float64Array(bins);
  const counts = new Float64Array(bins);
  samples.timesSeconds.forEach((time, i) => {
    const bin = Math.round(time * 10) % bins;
    sums[bin]! += samples.ratesBps[i]!;
    counts[bin]!++;
  });
  const means = sums.map((sum, bin) => sum / counts[bin]!);
  return means.indexOf(Math.min(...means.filter((mean) => !Number.isNaN(mean)))) / 10;
}
