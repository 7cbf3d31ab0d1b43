/** The comparison of a trial's arms as a document, and in one sentence. */

import { sessionsToFind } from '../../replay/evaluation/cluster-ratios.ts';
import type { Estimate } from '../../replay/results.ts';
import { type Block, type Column, type ReportDocument, type Section, tableOf } from '../report/document.ts';
import { count, fixed } from '../report/format.ts';
import { type ArmComparison, type Comparison, DECISIVE, type KindRow, type TrialComparison } from './compare-arms.ts';
import type { TrialSums } from './read-sums.ts';

/** Differences, in percent of the control, of the power table. */
const EFFECTS = [1, 2, 5, 10] as const;

const METHOD =
  'Metrics are ratios of sums: QoE, bitrate and latency per second watched, the time stalled of all time watched or ' +
  'stalled, other metrics per session. Intervals are 95 %, from linearised ratios over whole clusters. Those "at any look" ' +
  'hold however often one looks (mixture sequential probability ratio test), and for all arms together.';

export function trialDocument(sums: TrialSums, comparison: TrialComparison): ReportDocument {
  const { control, arms, warnings, leftOut } = comparison;
  const sections: Section[] = [];
  const add = (id: string, title: string, blocks: Block[], level: Section['level'] = 2) =>
    sections.push({ id, title, level, blocks });
  for (const [i, one] of arms.entries()) {
    const title = `${one.arm.arm} against ${control.arm}`;
    add(`arm-${i + 1}`, title, [armTable(one, control.arm)]);
    if (one.kinds.length > 0) add(`arm-${i + 1}-kinds`, 'By kind of session', [kindTable(one.kinds)], 3);
    add(`arm-${i + 1}-power`, 'Sessions needed', [powerTable(one)], 3);
  }
  const counted = [control, ...arms.map(({ arm }) => arm)].map(
    ({ arm, sessions, own }) =>
      `\`${arm}\`: ${count(sessions, 'session')}, ${fixed((100 * own) / sessions, 1)} % of the player's own algorithm`,
  );
  const few = leftOut.map((arm) => `\`${arm}\`: left out, with too few sessions`);
  const dropped = sums.notCounted.map(({ reason, rows }) => `${rows} not counted: ${reason}`);
  add('counts', 'What was counted', [{ kind: 'list', items: [...counted, ...few, ...dropped] }]);
  add('method', 'Method', [{ kind: 'text', text: METHOD }]);
  const opening: Block[] = arms.map((one) => ({ kind: 'text', text: sentence(one, control.arm) }));
  if (warnings.length > 0) opening.push({ kind: 'list', items: warnings });
  return {
    title: `Trial ${sums.trial}`,
    opening: { id: 'outcome', title: 'Outcome', level: 2, blocks: opening },
    sections,
  };
}

/** What the decisive metrics say, in plain words. */
export function sentence({ arm, comparisons }: ArmComparison, control: string): string {
  const decisive = comparisons.filter(({ metric }) => DECISIVE.includes(metric));
  const said = (of: readonly Comparison[], text: (one: Comparison) => string) => of.map(text).join(' and ');
  const sure = decisive.filter(({ always }) => excludesZero(always));
  const once = decisive.filter((one) => !sure.includes(one) && excludesZero(one.difference));
  const unclear = decisive.filter((one) => !sure.includes(one) && !once.includes(one));
  const parts = [
    sure.length > 0 && `${said(sure, change)}, whenever one looks`,
    once.length > 0 && `${said(once, change)}, if this is the only look`,
    unclear.length > 0 && `no difference was found in ${unclear.map(({ metric }) => metric.noun).join(', ')}`,
  ].filter((part) => part !== false);
  return `With \`${arm.arm}\` instead of \`${control}\`, ${parts.join('; ')}.`;
}

function change({ metric, control, difference: { value } }: Comparison): string {
  const [least, most] = metric.isLowerBetter ? ['worse', 'better'] : ['better', 'worse'];
  const verdict = value > 0 ? least : most;
  const size = control > 0 ? `${fixed(Math.abs((100 * value) / control), 1)} %` : fixed(Math.abs(value), metric.digits);
  return `${metric.noun} is ${size} ${value > 0 ? 'higher' : 'lower'} (${verdict})`;
}

function excludesZero({ ci95 }: Estimate): boolean {
  return ci95 !== null && (ci95[0] > 0 || ci95[1] < 0);
}

function armTable({ arm, comparisons }: ArmComparison, control: string): Block {
  const rows = comparisons.map((one): Block & { kind: 'table' } => {
    const { digits, title } = one.metric;
    const columns: Column<Comparison>[] = [
      { title: 'metric', of: () => title },
      { title: control, digits, of: (of) => of.control },
      { title: arm.arm, digits, of: (of) => of.arm },
      { title: 'difference', digits, isDifference: true, of: (of) => of.difference },
      {
        title: 'in %',
        digits: 1,
        isDifference: true,
        of: (of) => (of.control > 0 ? (100 * of.difference.value) / of.control : null),
      },
      { title: 'difference, at any look', digits, isDifference: true, of: (of) => of.always },
    ];
    return tableOf('', columns, [one]) as Block & { kind: 'table' };
  });
  return { ...rows[0]!, caption: 'Arms side by side.', rows: rows.flatMap((table) => table.rows) };
}

function kindTable(kinds: readonly KindRow[]): Block {
  const columns: Column<KindRow>[] = [
    { title: 'kind', of: ({ title, value }) => `${title}: ${value}` },
    { title: 'sessions', digits: 0, of: ({ sessions }) => sessions },
    ...DECISIVE.flatMap((metric, i): Column<KindRow>[] => [
      {
        ...{ title: metric.title, digits: metric.digits, isDifference: true },
        of: ({ comparisons }) => comparisons.find((one) => one.metric === metric)?.difference,
      },
      {
        ...{ title: 'against other sessions', digits: metric.digits, isDifference: true },
        of: ({ againstOthers }) => againstOthers[i],
      },
    ]),
  ];
  const caption =
    'Differences between the arms, and how far each is above that of all other sessions; the intervals of the latter hold ' +
    'for all rows together (Bonferroni).';
  return tableOf(caption, columns, kinds);
}

function powerTable({ comparisons }: ArmComparison): Block {
  const of = comparisons.filter(({ metric, control }) => DECISIVE.includes(metric) && control > 0);
  const columns: Column<Comparison>[] = [
    { title: 'metric', of: ({ metric }) => metric.title },
    ...EFFECTS.map(
      (percent): Column<Comparison> => ({
        title: `to find ${percent} %`,
        digits: 0,
        of: ({ control, contrast }) => roundedUp(sessionsToFind((control * percent) / 100, contrast)),
      }),
    ),
  ];
  const caption =
    'Sessions of both arms with which a difference of so many percent is found with a probability of 80 %, at a single look; ' +
    'who looks often needs about twice as many.';
  return tableOf(caption, columns, of);
}

/** To two digits. */
function roundedUp(sessions: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(sessions)) - 1);
  return Math.ceil(sessions / step) * step;
}
