/** The comparison of a trial's arms as a document. */

import { sessionsToFind } from '../../replay/evaluation/cluster-ratios.ts';
import type { Estimate } from '../../replay/results.ts';
import type { Block, ReportDocument, Section, Table } from '../report/document.ts';
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
  const sections: Section[] = arms.flatMap((one, i) => {
    const tables: [string, Table][] = [
      [`${one.arm.arm} against ${control.arm}`, armTable(one, control.arm)],
      ['By kind of session', kindTable(one)],
      ['Sessions needed', powerTable(one)],
    ];
    return tables.flatMap(([title, table], part): Section[] =>
      table.rows.length > 0 ? [{ id: `arm-${i}-${part}`, title, level: part === 0 ? 2 : 3, blocks: [table] }] : [],
    );
  });
  const items = [
    ...[control, ...arms.map(({ arm }) => arm)].map(
      ({ arm, sessions, own }) =>
        `\`${arm}\`: ${count(sessions, 'session')}, ${fixed((100 * own) / sessions, 1)} % with the player's own algorithm`,
    ),
    ...leftOut.map((arm) => `\`${arm}\`: left out, with too few sessions`),
    ...sums.notCounted.map(({ reason, rows }) => `${rows} not counted: ${reason}`),
  ];
  sections.push({ id: 'counts', title: 'What was counted', level: 2, blocks: [{ kind: 'list', items }] });
  sections.push({ id: 'method', title: 'Method', level: 2, blocks: [{ kind: 'text', text: METHOD }] });
  const blocks: Block[] = arms.map((one) => ({ kind: 'text', text: sentence(one, control.arm) }));
  if (warnings.length > 0) blocks.push({ kind: 'list', items: warnings });
  return { title: `Trial ${sums.trial}`, opening: { id: 'outcome', title: 'Outcome', level: 2, blocks }, sections };
}

/** What the decisive metrics say, in plain words. */
function sentence({ arm, comparisons }: ArmComparison, control: string): string {
  const decisive = comparisons.filter(({ metric }) => DECISIVE.includes(metric));
  const sure = decisive.filter(({ always }) => excludesZero(always));
  const once = decisive.filter((one) => !sure.includes(one) && excludesZero(one.difference));
  const unclear = decisive.filter((one) => !sure.includes(one) && !once.includes(one));
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
  const verdict = isHigher === metric.isLowerBetter ? 'worse' : 'better';
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
  return {
    kind: 'table',
    caption:
      'Differences between the arms, and how far each is above that of all other sessions; the intervals of the latter ' +
      'hold for all rows together (Bonferroni).',
    names: ['kind'],
    numbers: ['sessions', ...DECISIVE.flatMap(({ title }) => [title, 'against other sessions'])],
    rows: kinds.map(({ name, sessions, differences }) => {
      const cells = DECISIVE.flatMap(({ digits }, i) => differences[i]!.map((one) => estimateCell(one, { digits })));
      return [name, String(sessions), ...cells];
    }),
  };
}

function powerTable({ comparisons }: ArmComparison): Table {
  const of = comparisons.filter(({ metric, control }) => DECISIVE.includes(metric) && control > 0);
  return {
    kind: 'table',
    caption:
      'Sessions of both arms with which a difference of so many percent is found with a probability of 80 %, at a single ' +
      'look; who looks often needs about twice as many.',
    names: ['metric'],
    numbers: EFFECTS.map((percent) => `to find ${percent} %`),
    rows: of.map(({ metric, control, contrast }) => [
      metric.title,
      ...EFFECTS.map((percent) =>
        Number(sessionsToFind((control * percent) / 100, contrast).toPrecision(2)).toFixed(0),
      ),
    ]),
  };
}
