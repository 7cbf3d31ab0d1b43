/** What the figures lack: rejected runs, sessions that ended early, places without a pair. */

import { benchNotesOf, type Rejection } from '../../../replay/browser/bench-notes.ts';
import { placeKey } from '../../../replay/evaluation/plan.ts';
import type { Block, Table } from '../document.ts';
import { count, fixed, percent } from '../format.ts';
import { byAlgorithm, type Run } from '../runs.ts';

export function leftOutBlocks(run: Run): Block[] {
  const { results, algorithms, tools, files } = run;
  const items: string[] = [];
  for (const [i, { complete }] of tools.entries()) {
    if (complete === false) items.push(`\`${files[i]}\` holds partial results: sessions are missing.`);
  }
  if (results.tool['complete'] === false && items.length === 0) items.push('The results are not complete.');

  const leftOut = new Set(
    tools.flatMap((tool) => tool.leftOut ?? []).map((one) => `${one.trace} at ${one.startSeconds} s (${one.reason})`),
  );
  if (leftOut.size > 0) items.push(`${count(leftOut.size, 'start')} left out: ${[...leftOut].join(', ')}.`);
  for (const [algorithm, sessions] of byAlgorithm(results.sessions)) {
    const past = sessions.flatMap(({ pastTraceSeconds }) => pastTraceSeconds ?? []);
    if (past.length === 0) continue;
    items.push(
      `\`${algorithm}\`: ${count(past.length, 'session')} ran past the end of the recording, which then began again, ` +
        `by up to ${fixed(Math.max(...past), 1)} s.`,
    );
  }

  const early = results.sessions.filter(({ endedBy }) => endedBy !== 'end');
  for (const [algorithm, sessions] of byAlgorithm(early)) {
    const faults = sessions.filter(({ endedBy }) => endedBy === 'fault');
    const cut = sessions.length - faults.length;
    if (cut > 0) {
      const sessionsCut = `${count(cut, 'session')} cut off after 600 s of waiting`;
      items.push(`\`${algorithm}\`: ${sessionsCut}; they count with the QoE until then.`);
    }
    if (faults.length > 0) {
      const first = faults[0]!.fault ?? 'unknown';
      items.push(`\`${algorithm}\`: ${count(faults.length, 'session')} ended by a fault; the first: ${first}.`);
    }
  }

  const places = new Set(results.sessions.map(placeKey));
  for (const [algorithm, sessions] of byAlgorithm(results.sessions)) {
    const missing = places.size - new Set(sessions.map(placeKey)).size;
    if (missing > 0)
      items.push(`\`${algorithm}\`: no session at ${missing} of ${places.size} places; pairs come from the others.`);
  }

  const notes = tools.flatMap((tool) => benchNotesOf(tool) ?? []);
  const rejections = notes.flatMap(({ parts }) => parts.flatMap((part) => part.rejections ?? []));
  const rejectedRuns = notes.reduce((sum, { rejectedRuns: runs }) => sum + runs, 0);
  const blocks: Block[] = [];
  if (!run.isSimulated) {
    items.push(
      notes.some(({ kernel }) => kernel !== undefined)
        ? 'The kernel tier rejects no run, because nothing prescribes when a download ends.'
        : rejectedRuns === 0
          ? 'No run was rejected.'
          : `${count(rejectedRuns, 'run')} rejected and repeated, because more than 2 % of a run's downloads ended ` +
            'later than the trace prescribes (by more than 3 % and 50 ms): the machine was too busy to measure.',
    );
  }
  if (items.length === 0) items.push('Nothing: every planned session is in the figures and played to its end.');
  blocks.push({ kind: 'list', items });
  if (rejections.length > 0) blocks.push(rejectionTable(run, algorithms, rejections));
  return blocks;
}

/** Rejections by algorithm: if the shares differ, the accepted sessions are a biased selection. */
function rejectionTable(run: Run, algorithms: readonly string[], rejections: readonly Rejection[]): Table {
  const accepted = byAlgorithm(run.results.sessions);
  return {
    kind: 'table',
    caption: 'Runs rejected, by algorithm. If the shares differ much, the accepted sessions are a biased selection.',
    names: ['algorithm'],
    numbers: ['sessions', 'runs rejected', 'share of runs', 'traces'],
    rows: [...new Set([...algorithms, ...rejections.map(({ algorithm }) => algorithm)])].map((algorithm) => {
      const own = rejections.filter((rejection) => rejection.algorithm === algorithm);
      const played = accepted.get(algorithm)?.length ?? 0;
      return [
        algorithm,
        String(played),
        String(own.length),
        percent(own.length / Math.max(1, own.length + played), 1),
        [...new Set(own.map(({ trace }) => trace))].slice(0, 4).join(', ') || '–',
      ];
    }),
  };
}
