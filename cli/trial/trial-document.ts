/** The comparison of a trial's arms as a document. */

import { sessionsToFind } from '../../replay/evaluation/cluster-ratios.ts';
import type { Block, ReportDocument, Section, Table } from '../report/document.ts';
import { count, estimateCell, excludesZero, fixed, signed } from '../report/format.ts';
import type { ArmComparison, Comparison, TrialComparison } from './compare-arms.ts';
import type { TrialSums } from './read-sums.ts';
import { DECISIVE } from './sums-sql.ts';

/** Differences of the power table, in percent of the control. */
const EFFECTS = [1, 2, 5, 10];

const section = (id: string, title: string, ...blocks: Block[]): Section => ({ id, title, level: 2, blocks });

export function trialDocument(sums: TrialSums, { control, arms, warnings }: TrialComparison): ReportDocument {
  const compared = [control, ...arms.map(({ arm }) => arm)];
  const items = sums.arms.map((arm) => {
    const ofPlayer = `${fixed((100 * arm.own) / arm.sessions, 1)} % with the player's own algorithm`;
    return `\`${arm.arm}\`: ${count(arm.sessions, 'session')}, ${compared.includes(arm) ? ofPlayer : 'too few, left out'}`;
  });
  items.push(...sums.notCounted.map(({ reason, rows }) => `${rows} not counted: ${reason}`));
  const tables = arms.flatMap((one, i): Section[] => [
    section(`arm-${i}`, `${one.arm.arm} against ${control.arm}`, armTable(one, control.arm)),
    { ...section(`kinds-${i}`, 'By kind of session', kindTable(one)), level: 3 },
    { ...section(`needed-${i}`, 'Sessions needed', powerTable(one)), level: 3 },
  ]);
  const outcome: Block[] = arms.map((one) => ({ kind: 'text', text: sentence(one, control.arm) }));
  if (warnings.length > 0) outcome.push({ kind: 'list', items: warnings });
  return {
    title: `Trial ${sums.trial}`,
    opening: section('outcome', 'Outcome', ...outcome),
    sections: [
      ...tables.filter(({ blocks: [table] }) => (table as Table).rows.length > 0),
      section('counts', 'What was counted', { kind: 'list', items }),
    ],
  };
}

function sentence({ arm, comparisons }: ArmComparison, control: string): string {
  const decisive = comparisons.filter(({ metric }) => DECISIVE.includes(metric));
  const sure = decisive.filter(({ always }) => excludesZero(always));
  const once = decisive.filter((one) => !sure.includes(one) && excludesZero(one.difference));
  const unclear = decisive.filter((one) => !sure.includes(one) && !once.includes(one));
  const parts = [
    sure.length > 0 && `${sure.map(change).join(' and ')}, whenever one looks`,
    once.length > 0 && `${once.map(change).join(' and ')}, if this is the only look`,
    unclear.length > 0 && `no difference was found in ${unclear.map(nounOf).join(', ')}`,
  ];
  return `With \`${arm.arm}\` instead of \`${control}\`, ${parts.filter(Boolean).join('; ')}.`;
}

const nounOf = ({ metric }: Comparison) => metric.title.split(',')[0]!;

function change(one: Comparison): string {
  const { metric, control, difference } = one;
  const isHigher = difference.value > 0;
  const size = Math.abs(difference.value);
  const shown = control > 0 ? `${fixed((100 * size) / control, 1)} %` : fixed(size, metric.digits);
  const verdict = isHigher === metric.isLowerBetter ? 'worse' : 'better';
  return `${nounOf(one)} is ${shown} ${isHigher ? 'higher' : 'lower'} (${verdict})`;
}

function armTable({ arm, comparisons }: ArmComparison, control: string): Table {
  return {
    ...{ kind: 'table', names: ['metric'] },
    caption:
      'QoE, bitrate and latency are per second watched. Intervals are 95 %, over whole clusters; those "at any look" hold ' +
      'however often one looks (mixture sequential probability ratio test), and for all arms together.',
    numbers: [control, arm.arm, 'difference', 'in %', 'difference, at any look'],
    rows: comparisons.map(({ metric: { title, digits }, difference, always, ...of }) => [
      ...[title, fixed(of.control, digits), fixed(of.arm, digits), estimateCell(difference, { digits })],
      of.control > 0 ? signed((100 * difference.value) / of.control, 1) : '–',
      estimateCell(always, { digits }),
    ]),
  };
}

function kindTable({ kinds }: ArmComparison): Table {
  return {
    ...{ kind: 'table', names: ['kind'] },
    caption: 'Differences between the arms; the intervals hold for all rows and columns together (Bonferroni).',
    numbers: ['sessions', ...DECISIVE.map(({ title }) => title)],
    rows: kinds.map(({ name, sessions, comparisons }) => [
      ...[name, String(sessions)],
      ...comparisons.map(({ difference, metric: { digits } }) => estimateCell(difference, { digits })),
    ]),
  };
}

function powerTable({ comparisons }: ArmComparison): Table {
  const shown = comparisons.filter(({ metric, control }) => DECISIVE.includes(metric) && control > 0);
  const needed = ({ control, contrast }: Comparison, percent: number) =>
    Number(sessionsToFind((control * percent) / 100, contrast).toPrecision(2));
  return {
    ...{ kind: 'table', names: ['metric'] },
    caption:
      'Sessions of both arms that find such a difference in 80 % of trials, at a single look; else about twice as many.',
    numbers: EFFECTS.map((percent) => `to find ${percent} %`),
    rows: shown.map((one) => [one.metric.title, ...EFFECTS.map((percent) => fixed(needed(one, percent), 0))]),
  };
}
