/** Converters of sources with about one sample a second. */

import { InputError } from '../../abr/errors.ts';
import { groupBy } from '../evaluation/group-by.ts';
import { decimalOf, linesOf } from '../formats/lines.ts';
import { placeOf } from '../formats/place.ts';
import { outageRuns } from '../link-model/trace-info.ts';
import {
  type Converter,
  compactUtc,
  gridSeconds,
  interpolator,
  type Recording,
  ratesOnGrid,
  samplesOf,
  Table,
  textOf,
} from './recording.ts';
import { unzipFile } from './unzip.ts';

/** A spacing that differs by more from one second separates recordings. */
const TOLERANCE_MS = 500;

interface RowsOptions {
  /** Columns: time of a sample, its rate in Mbit/s. */
  time: string;
  rate: string;
  utcOffsetHours: number;
  /** The file within the zip archive. Default: the file is not an archive. */
  zipped?: string;
  /** Shortest recording to keep, and the longest outage within one, in s. Default: all. */
  minSeconds?: number;
  maxOutageSeconds?: number;
}

/** Converts rows of one second. Missing seconds end a recording. */
export function secondRows({ minSeconds = 1, maxOutageSeconds = Infinity, ...options }: RowsOptions): Converter {
  return (file) => {
    const text = options.zipped === undefined ? textOf(file) : unzipFile(file, options.zipped);
    const table = new Table(text, file.path, [options.time, options.rate]);
    const utcMs = table.times(options.time, options.utcOffsetHours);
    const rates = table.numbers(options.rate);
    const recordings: Recording[] = [];
    for (let from = 0, to = 1; from < utcMs.length; from = to, to++) {
      while (to < utcMs.length && Math.abs(utcMs[to]! - utcMs[to - 1]! - 1000) < TOLERANCE_MS) to++;
      const ratesMbps = rates.slice(from, to);
      const outages = outageRuns(ratesMbps, Number.MIN_VALUE);
      if (ratesMbps.length < minSeconds || Math.max(...outages) > maxOutageSeconds) continue;
      const startUtcMs = Math.floor(utcMs[from]! / 1000) * 1000;
      const samples = samplesOf({ timesSeconds: gridSeconds(to - from, 1), ratesMbps });
      recordings.push({ name: `${file.name}-${compactUtc(startUtcMs)}`, startUtcMs, samples });
    }
    return recordings;
  };
}

/** Converts runs of 15 s with gaps, on a clock of an unstated zone, to a recording per day and service plan. */
export const roadRuns: Converter = (file) => {
  const table = new Table(textOf(file), file.path, ['timestamp_start', 'priority', 'download_mbps']);
  const loggedMs = table.times('timestamp_start', 0);
  const priorities = table.numbers('priority');
  const rates = table.numbers('download_mbps');
  const nameOf = (row: number) => `${compactUtc(loggedMs[row]!).slice(0, 8)}-prio${priorities[row]}`;
  const rowsByName = groupBy([...loggedMs.keys()], nameOf);
  return Array.from(rowsByName, ([name, rows]) => {
    const startMs = loggedMs[rows[0]!]!;
    const timesSeconds = rows.map((row) => (loggedMs[row]! - startMs) / 1000);
    return {
      name,
      samples: samplesOf({ timesSeconds, ratesMbps: rows.map((row) => rates[row]!) }),
      epochPhaseSeconds: (startMs % 60_000) / 1000,
      other: { start_logged: new Date(startMs).toISOString().slice(0, 19) },
    };
  });
};

const IDP_WINDOW_SECONDS = 1200;
/** A shorter remainder is left out. */
const IDP_MIN_SECONDS = 300;

/** Converts bits since the row before, about every 1.09 s, to windows of 20 minutes. Assumes a CEST clock. */
export const idpRows: Converter = (file) => {
  const table = new Table(textOf(file), file.path, ['timestamp', 'bandwidth_bps', 'pop_ping_latency_ms']);
  const utcMs = table.times('timestamp', 2);
  const firstMs = Math.ceil(utcMs[0]! / 1000) * 1000;
  const timesSeconds = utcMs.map((ms) => (ms - firstMs) / 1000);
  const rttAt = interpolator(timesSeconds, table.numbers('pop_ping_latency_ms'), 3);
  let bits = 0;
  const cumulativeBits = table.numbers('bandwidth_bps').map((since, row) => (bits += row === 0 ? 0 : since));
  const seconds = Math.floor(timesSeconds.at(-1)!);
  const recordings: Recording[] = [];
  for (let start = 0; seconds - start >= IDP_MIN_SECONDS; start += IDP_WINDOW_SECONDS) {
    const count = Math.min(IDP_WINDOW_SECONDS, seconds - start);
    const grid = { startSeconds: start, stepSeconds: 1, count };
    recordings.push({
      name: `${file.name}-${String(recordings.length).padStart(2, '0')}`,
      startUtcMs: firstMs + start * 1000,
      samples: samplesOf({
        timesSeconds: gridSeconds(count, 1),
        ratesMbps: ratesOnGrid({ timesSeconds, cumulativeBits }, grid),
        rttMs: gridSeconds(count, 1).map((second) => rttAt(start + second + 0.5)),
      }),
    });
  }
  return recordings;
};

/** Converts lines of a time in s and a rate in Mbit/s. `phases`: by name, the first line's second of the minute. */
export function timedLines(options: { seconds: number; phases: Readonly<Record<string, number>> }): Converter {
  const { seconds, phases } = options;
  return (file) => {
    const rows = Array.from(linesOf(textOf(file)), ([line, number]) => {
      const [time = Number.NaN, rate = Number.NaN] = line.split(/\s+/).map(decimalOf);
      if (time >= 0 && rate >= 0) return [time, rate] as const;
      throw new InputError(placeOf({ file: file.path, line: number }), 'a time in s and a rate in Mbit/s', line);
    });
    const kept = rows.filter(([time]) => time - rows[0]![0] < seconds);
    const timesSeconds = kept.map(([time]) => time - rows[0]![0]);
    const samples = samplesOf({ timesSeconds, ratesMbps: kept.map(([, rate]) => rate) });
    return [{ name: file.name, samples, epochPhaseSeconds: phases[file.name] }];
  };
}
