/** The comparison of a trial's arms as a document. */

import { sessionsToFind } from '../../replay/evaluation/cluster-ratios.ts';
import type { Estimate } from '../../replay/results.ts';
import { type Block, type ReportDocument, type Section, type Table, tableOf } from '../report/document.ts';
import { count, estimateCell, fixed, signed } from '../report/format.ts';
import type { ArmComparison, Comparison, TrialComparison } from './compare-arms.ts';
import { DECISIVE } from './metrics.ts';
import type { TrialSums } from './read-sums.ts';

/** Differences of the power table, in percent of the control. */
const EFFECTS = [1, 2, 5, 10];

const METHOD =
  'Metrics are ratios of sums: QoE, bitrate and latency per second watched, the time stalled of all time watched or ' +
  'stalled, others per session. Intervals are 95 %, from linearised ratios over whole clusters. Those "at any look" hold ' +
  'however often one looks (mixture sequential probability ratio test), and for all arms together.';

export function trialDocument(sums: TrialSums, { control, arms, warnings, leftOut }: TrialComparison): ReportDocument {
  const sections = arms.flatMap((one, i): Section[] => [
    { ...section(`arm-${i}`, `${one.arm.arm} against ${control.arm}`, armTable(one, control.arm)) },
    { ...section(`kinds-${i}`, 'By kind of session', kindTable(one)), level: 3 },
    { ...section(`needed-${i}`, 'Sessions needed', powerTable(one)), level: 3 },
  ]);
  const items = [
    ...[control, ...arms.map(({ arm }) => arm)].map(
      ({ arm, sessions, own }) =>
        `\`${arm}\`: ${count(sessions, 'session')}, ${fixed((100 * own) / sessions, 1)} % with the player's own algorithm`,
    ),
    ...leftOut.map((arm) => `\`${arm}\`: left out, with too few sessions`),
    ...sums.notCounted.map(({ reason, rows }) => `${rows} not counted: ${reason}`),
  ];
  const sentences = arms.map((one): Block => ({ kind: 'text', text: sentence(one, control.arm) }));
  const warned: Block[] = warnings.length > 0 ? [{ kind: 'list', items: warnings }] : [];
  return {
    title: `Trial ${sums.trial}`,
    opening: section('outcome', 'Outcome', ...sentences, ...warned),
    sections: [
      ...sections.filter(({ blocks: [table] }) => (table as Table).rows.length > 0),
      section('counts', 'What was counted', { kind: 'list', items }),
      section('method', 'Method', { kind: 'text', text: METHOD }),
    ],
  };
}

function section(id: string, title: string, ...blocks: Block[]): Section {
  return { id, title, level: 2, blocks };
}

/** What the decisive metrics say, in plain words. */
function sentence({ arm, comparisons }: ArmComparison, control: string): string {
  const groups: Record<string, Comparison[]> = { sure: [], once: [], unclear: [] };
  for (const one of comparisons) {
    if (!DECISIVE.includes(one.metric)) continue;
    groups[excludesZero(one.always) ? 'sure' : excludesZero(one.difference) ? 'once' : 'unclear']!.push(one);
  }
  const { sure, once, unclear } = groups as Record<'sure' | 'once' | 'unclear', Comparison[]>;
  const parts = [
    sure.length > 0 && `${sure.map(change).join(' and ')}, whenever one looks`,
    once.length > 0 && `${once.map(change).join(' and ')}, if this is the only look`,
    unclear.length > 0 && `no difference was found in ${unclear.map(nounOf).join(', ')}`,
  ].filter((part) => part !== false);
  return `With \`${arm.arm}\` instead of \`${control}\`, ${parts.join('; ')}.`;
}

const nounOf = ({ metric }: Comparison) => metric.title.split(',')[0]!;

function change(one: Comparison): string {
  const { metric, control, difference } = one;
  const isHigher = difference.value > 0;
  const size = Math.abs(difference.value);
  const shown = control > 0 ? `${fixed((100 * size) / control, 1)} %` : fixed(size, metric.digits);
  const verdict = isHigher === (metric.isLowerBetter ?? false) ? 'worse' : 'better';
  return `${nounOf(one)} is ${shown} ${isHigher ? 'higher' : 'lower'} (${verdict})`;
}

function excludesZero({ ci95 }: Estimate): boolean {
  return ci95 !== null && (ci95[0] > 0 || ci95[1] < 0);
}

function armTable({ arm, comparisons }: ArmComparison, control: string): Table {
  return {
    kind: 'table',
    caption: 'Arms side by side.',
    names: ['metric'],
    numbers: [control, arm.arm, 'difference', 'in %', 'difference, at any look'],
    rows: comparisons.map(({ metric: { title, digits }, difference, always, ...of }) => [
      ...[title, fixed(of.control, digits), fixed(of.arm, digits), estimateCell(difference, { digits })],
      of.control > 0 ? signed((100 * difference.value) / of.control, 1) : '–',
      estimateCell(always, { digits }),
    ]),
  };
}

function kindTable({ kinds }: ArmComparison): Table {
  const caption = 'Differences between the arms; the intervals hold for all rows and columns together (Bonferroni).';
  return tableOf(
    caption,
    [
      { title: 'kind', of: ({ name }) => name },
      { title: 'sessions', digits: 0, of: ({ sessions }) => sessions },
      ...DECISIVE.map(({ title, digits }, i) => ({
        ...{ title, digits, isDifference: true },
        of: ({ differences }: ArmComparison['kinds'][number]) => differences[i],
      })),
    ],
    kinds,
  );
}

function powerTable({ comparisons }: ArmComparison): Table {
  return tableOf<Comparison>(
    'Sessions of both arms with which a difference of so many percent is found with a probability of 80 %, at a single ' +
      'look; who looks often needs about twice as many.',
    [
      { title: 'metric', of: ({ metric }) => metric.title },
      ...EFFECTS.map((percent) => ({
        ...{ title: `to find ${percent} %`, digits: 0 },
        of: ({ control, contrast }: Comparison) =>
          Number(sessionsToFind((control * percent) / 100, contrast).toPrecision(2)),
      })),
    ],
    comparisons.filter(({ metric, control }) => DECISIVE.includes(metric) && control > 0),
  );
}
