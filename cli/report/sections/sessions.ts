/** The best, the median and the worst session of each algorithm, over time. */

import type { SessionResult } from '../../../replay/results.ts';
import type { Trace } from '../../../replay/trace.ts';
import { sessionChart } from '../charts.ts';
import { ALGORITHM, type Block, type Column, type Figure, type SeriesStyle, tableOf } from '../document.ts';
import { count, fixed } from '../format.ts';
import { byAlgorithm, type Run } from '../runs.ts';
import { sessionSeries } from '../session-series.ts';

interface Chosen {
  algorithm: string;
  /** `best`, `median` or `worst`. */
  name: string;
  session: SessionResult;
}

/** `traceOf`: the given traces by the JSON of `[data set, name]`. */
export function sessionBlocks(
  run: Run,
  traceOf: ReadonlyMap<string, Trace>,
  styles: ReadonlyMap<string, SeriesStyle>,
): Block[] {
  const { digits } = run;
  const rows = [...byAlgorithm(run.results.sessions)].flatMap(([algorithm, sessions]) => chosen(algorithm, sessions));
  const columns: Column<Chosen>[] = [
    ALGORITHM,
    { title: 'session', of: ({ name }) => name },
    { title: 'recordings', of: ({ session }) => session.dataset },
    { title: 'trace', of: ({ session }) => placeName(session) },
    { title: 'ended by', of: ({ session }) => session.endedBy },
    { title: 'QoE', digits, of: ({ session }) => session.qoe.linear },
    { title: 'Mbit/s', digits, of: ({ session }) => session.meanBitrateBps / 1e6 },
    { title: 'stalls, s', digits: 2, of: ({ session }) => session.stallSeconds },
    { title: 'stalls', digits: 0, of: ({ session }) => session.stallCount },
    { title: 'startup, s', digits: 2, of: ({ session }) => session.startupSeconds },
    { title: 'switches', digits: 0, of: ({ session }) => session.switches },
  ];
  const hasCapacity = traceOf.size > 0;
  const text =
    `By QoE. Above: requested bitrates${hasCapacity ? ', and capacity (grey, cut at 1.3 times the top bitrate)' : ''}; ` +
    `below: the buffer level; red: stalls.${hasCapacity ? '' : ' `--traces` adds the capacity.'}`;
  return [
    { kind: 'text', text },
    { kind: 'figures', figures: rows.flatMap((row) => figureOf(row, run, { traceOf, styles }) ?? []), width: 'third' },
    tableOf('The sessions above in numbers.', columns, rows),
  ];
}

/** Undefined for a session without a segment. */
function figureOf(
  { algorithm, name, session }: Chosen,
  { scenario }: Run,
  { traceOf, styles }: { traceOf: ReadonlyMap<string, Trace>; styles: ReadonlyMap<string, SeriesStyle> },
): Figure | undefined {
  const series = sessionSeries(session, scenario, traceOf.get(JSON.stringify([session.dataset, session.trace])));
  if (series === undefined) return undefined;
  const { ladderBps, bufferCapSeconds } = scenario;
  const where = placeName(session);
  return {
    caption: `${algorithm}, ${name}: ${where}, QoE ${fixed(session.qoe.linear, 1)}`,
    label:
      `${algorithm}, its ${name} session over time, ${where}: mean bitrate ` +
      `${fixed(session.meanBitrateBps / 1e6, 1)} Mbit/s, ${count(session.stallCount, 'stall')} of ` +
      `${fixed(session.stallSeconds, 1)} s together, ${count(session.switches, 'switch', 'switches')}.`,
    draw: () =>
      sessionChart(series, { topBps: ladderBps.at(-1)!, bufferCapSeconds, color: styles.get(algorithm)!.color }),
  };
}

function placeName({ trace, startSeconds }: SessionResult): string {
  return `${trace}${startSeconds > 0 ? ` from ${startSeconds} s` : ''}`;
}

/** Best, median and worst session; fewer if there are fewer sessions. */
function chosen(algorithm: string, sessions: readonly SessionResult[]): Chosen[] {
  const ranked = [...sessions].sort((a, b) => b.qoe.linear - a.qoe.linear);
  const last = ranked.length - 1;
  const ranks = { best: 0, ...(last > 1 && { median: Math.floor(last / 2) }), ...(last > 0 && { worst: last }) };
  return Object.entries(ranks).map(([name, rank]) => ({ algorithm, name, session: ranked[rank]! }));
}
