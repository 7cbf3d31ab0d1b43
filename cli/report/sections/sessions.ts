/** The best, the median and the worst session of each algorithm, over time. */

import type { SessionResult } from '../../../replay/results.ts';
import type { Trace } from '../../../replay/trace.ts';
import { sessionChart } from '../charts.ts';
import type { Block, Figure, SeriesStyle, Table } from '../document.ts';
import { count, fixed } from '../format.ts';
import { byAlgorithm, type Run } from '../runs.ts';
import { sessionSeries } from '../session-series.ts';

/** `traceOf`: the given traces by the JSON of `[data set, name]`. */
export function sessionBlocks(
  run: Run,
  traceOf: ReadonlyMap<string, Trace>,
  styles: ReadonlyMap<string, SeriesStyle>,
): Block[] {
  const groups = byAlgorithm(run.results.sessions);
  const blocks: Block[] = [
    {
      kind: 'text',
      text:
        'By QoE. Above: requested bitrates' +
        `${traceOf.size === 0 ? '' : ', and capacity (grey, cut at 1.3 times the top bitrate)'}; ` +
        `below: the buffer level; red: stalls.${traceOf.size === 0 ? ' `--traces` adds the capacity.' : ''}`,
    },
  ];
  const figures: Figure[] = [];
  const rows: Table['rows'] = [];
  const { digits } = run;
  for (const [algorithm, sessions] of groups) {
    for (const { name, session } of chosen(sessions)) {
      const where = `${session.trace}${session.startSeconds > 0 ? ` from ${session.startSeconds} s` : ''}`;
      const series = sessionSeries(
        session,
        run.scenario,
        traceOf.get(JSON.stringify([session.dataset, session.trace])),
      );
      rows.push([
        algorithm,
        name,
        session.dataset,
        where,
        fixed(session.qoe.linear, digits),
        fixed(session.meanBitrateBps / 1e6, digits),
        fixed(session.stallSeconds, 2),
        String(session.stallCount),
        fixed(session.startupSeconds, 2),
        String(session.switches),
        session.endedBy,
      ]);
      if (series === undefined) continue;
      figures.push({
        caption: `${algorithm}, ${name}: ${where}, QoE ${fixed(session.qoe.linear, 1)}`,
        label:
          `${algorithm}, its ${name} session over time, ${where}: mean bitrate ` +
          `${fixed(session.meanBitrateBps / 1e6, 1)} Mbit/s, ${count(session.stallCount, 'stall')} of ` +
          `${fixed(session.stallSeconds, 1)} s together, ${count(session.switches, 'switch', 'switches')}.`,
        draw: () =>
          sessionChart(series, {
            topBps: run.scenario.ladderBps.at(-1)!,
            bufferCapSeconds: run.scenario.bufferCapSeconds,
            color: styles.get(algorithm)!.color,
          }),
      });
    }
  }
  blocks.push({ kind: 'figures', figures, width: 'third' });
  blocks.push({
    kind: 'table',
    caption: 'The sessions above in numbers.',
    names: ['algorithm', 'session', 'data set', 'trace'],
    numbers: ['QoE', 'bitrate, Mbit/s', 'stalls, s', 'stalls', 'startup, s', 'switches', 'ended by'],
    rows,
  });
  return blocks;
}

/** Best, median and worst session; one or two of them if there are fewer than three sessions. */
function chosen(sessions: readonly SessionResult[]): { name: string; session: SessionResult }[] {
  const ranked = [...sessions].sort((a, b) => b.qoe.linear - a.qoe.linear);
  const roles = [
    { name: 'best', session: ranked[0] },
    { name: 'median', session: ranked.length > 2 ? ranked[Math.floor((ranked.length - 1) / 2)] : undefined },
    { name: 'worst', session: ranked.length > 1 ? ranked.at(-1) : undefined },
  ];
  return roles.flatMap(({ name, session }) => (session === undefined ? [] : [{ name, session }]));
}
