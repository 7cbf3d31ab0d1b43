/** Compares the arms of a trial with its control, metric by metric, and makes the document of the comparison. */

import { check, InputError } from '../../abr/errors.ts';
import type { Block, ReportDocument, Section, Table } from '../../cli/report/document.ts';
import { count, estimateCell, excludesZero, fixed, scaled } from '../../cli/report/format.ts';
import { type Change, changes, dataChange, verdict } from '../../cli/report/verdict.ts';
import * as ratios from '../../replay/evaluation/statistics/cluster-ratios.ts';
import type { Estimate } from '../../replay/results.ts';
import type { ArmSums, TrialSums } from './read-sums.ts';
import { DECISIVE, EGRESS, METRICS, type TrialMetric } from './sums-sql.ts';

/** An arm or a kind of sessions with fewer sessions is left out of the comparison. */
const FEWEST_SESSIONS = 8;
/** Below this probability, chance does not explain the numbers of sessions. */
const WRONG_SHARE_ALPHA = 0.001;
/** With fewer clusters, the spread of sessions is unknown. */
const FEWEST_CLUSTERS = 12;
/** Differences of the power table, in percent of the control. */
const EFFECTS = [1, 2, 5, 10];

type Comparison = ArmComparison['comparisons'][number];
type ArmComparison = ReturnType<typeof compareArms>['arms'][number];

/** Splits the arms with enough sessions into the control, called `name`, and the others. */
export function armsOf({ arms, trial }: TrialSums, name?: string) {
  const known = arms.map(({ arm }) => arm);
  const isKnown = name === undefined || known.includes(name);
  check(isKnown, '--control', `an arm of the trial ${trial}: ${known.join(', ')}`, name);
  const enough = arms.filter(isEnough);
  const [first] = [...enough].sort((a, b) => b.own / b.sessions - a.own / a.sessions);
  const control = enough.find(({ arm }) => arm === (name ?? first?.arm));
  return { enough, control, others: control ? enough.filter((arm) => arm !== control) : [] };
}

function compareArms(sums: TrialSums, name: string | undefined) {
  const { enough, control, others } = armsOf(sums, name);
  if (control === undefined || others.length === 0) {
    const found = sums.arms.map(({ arm, sessions }) => `${arm} (${sessions})`).join(', ');
    const expected = `${name ?? 'the control'} and another arm, with ${FEWEST_SESSIONS} sessions of two viewers each`;
    throw new InputError('files', expected, name, `${found}: wait for more sessions, or add their files`);
  }
  const compared = others.map((arm) => {
    const alphas = { always: 0.05 / others.length };
    const comparisons = METRICS.map((metric) => ({
      ...comparisonOf(metric, arm, control, alphas),
      percent: percentOf(metric, arm, control, alphas),
    }));
    const known = comparisons.filter(({ contrast }) => Number.isFinite(contrast.value));
    const isKnown = (wanted: string) => known.some(({ metric: { id } }) => id === wanted);
    const decisive = DECISIVE.filter(({ id }) => isKnown(id) && !(id === 'qoe' && isKnown('perceived')));
    return { arm, comparisons: known, decisive, kinds: comparedKinds(sums.kinds, arm, control, decisive) };
  });
  return { control, arms: compared, warnings: shareWarnings(enough) };
}

const isEnough = ({ sessions, perCluster }: ArmSums) =>
  sessions >= FEWEST_SESSIONS && perCluster.filter((count) => count > 0).length > 1;

/** The interval of `difference` holds at a single look, and that in `always` at any look, for all arms together. */
export function comparisonOf(metric: TrialMetric, one: ArmSums, other: ArmSums, { once = 0.05, always = 0.05 }) {
  const [arm, control] = [one.metrics[metric.id]!, other.metrics[metric.id]!];
  const contrast = ratios.contrastOf(arm, control);
  return {
    ...{ metric, contrast, control: ratios.ratioOf(control), arm: ratios.ratioOf(arm) },
    difference: { value: contrast.value, ci95: ratios.intervalOf(contrast, once) },
    always: { value: contrast.value, ci95: ratios.alwaysValidInterval(contrast, always) },
  };
}

/** The arm with a metric times a factor. */
export function scaledArm(arm: ArmSums, { id }: TrialMetric, factor: number): ArmSums {
  const sums = arm.metrics[id]!;
  return { ...arm, metrics: { ...arm.metrics, [id]: { ...sums, y: sums.y.map((value) => value * factor) } } };
}

/** The differences in percent of the other arm's figure, whose error counts, too; undefined unless it is above 0. */
function percentOf(metric: TrialMetric, one: ArmSums, other: ArmSums, alphas: { always: number }) {
  const [arm, control] = [one, other].map(({ metrics }) => ratios.ratioOf(metrics[metric.id]!)) as [number, number];
  if (!(control > 0)) return undefined;
  // The interval around 0 of the difference from the control, scaled to the arm's figure.
  const { difference, always } = comparisonOf(metric, one, scaledArm(other, metric, arm / control), alphas);
  const value = 100 * (arm / control - 1);
  const around = (estimate: Estimate): Estimate => {
    const { ci95 } = scaled(estimate, 100 / control);
    return { value, ci95: ci95 && [value + ci95[0], value + ci95[1]] };
  };
  return { difference: around(difference), always: around(always) };
}

/** Compares kinds of sessions in decisive metrics. The intervals hold for all kinds together. */
function comparedKinds(kinds: TrialSums['kinds'], arm: ArmSums, control: ArmSums, decisive: readonly TrialMetric[]) {
  const found = kinds.flatMap(({ name, arms }) => {
    const [one, other] = [arm, control].map((all) =>
      arms.find((part) => part.arm === all.arm && part.sessions < all.sessions && isEnough(part)),
    );
    return one && other ? [{ name, one, other }] : [];
  });
  const once = 0.05 / (decisive.length * found.length); // Bonferroni
  return found.map(({ name, one, other }) => ({
    ...{ name, sessions: one.sessions + other.sessions },
    comparisons: decisive.map((metric) => comparisonOf(metric, one, other, { once })),
  }));
}

/** Warns of arms whose share of the sessions differs from the plan. */
function shareWarnings(arms: readonly ArmSums[]): string[] {
  const x = arms[0]!.perCluster.map((_, c) => arms.reduce((sum, { perCluster }) => sum + perCluster[c]!, 0));
  const planned = arms.reduce((sum, { plannedShare }) => sum + plannedShare, 0);
  return arms.flatMap(({ arm, perCluster: y, sessions, plannedShare }) => {
    const contrast = ratios.contrastOf({ x, y, sessions });
    const [low, high] = ratios.intervalOf(contrast, WRONG_SHARE_ALPHA) ?? [0, 1];
    const wanted = plannedShare / planned;
    if (low <= wanted && wanted <= high) return [];
    const [is, instead] = [contrast.value, wanted].map((share) => `${fixed(100 * share, 1)} %`);
    return [
      `\`${arm}\` has ${is} of the sessions instead of ${instead}, which is not chance: reports are lost, so do not trust the figures.`,
    ];
  });
}

const section = (id: string, title: string, ...blocks: Block[]): Section => ({ id, title, level: 2, blocks });

/** Default of `controlName`: the arm in which the player's own algorithm chose most often. */
export function trialDocument(sums: TrialSums, controlName?: string): ReportDocument {
  const { control, arms, warnings } = compareArms(sums, controlName);
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
  // Warnings of lost reports come first, because they make the figures doubtful.
  const outcome: Block[] = warnings.length > 0 ? [{ kind: 'list', items: warnings }] : [];
  outcome.push(...arms.map((one): Block => ({ kind: 'text', text: sentences(one, control.arm) })));
  return {
    title: `Trial ${sums.trial}`,
    opening: section('outcome', 'Outcome', ...outcome),
    sections: [
      ...tables.filter(({ blocks: [table] }) => (table as Table).rows.length > 0),
      section('counts', 'What was counted', { kind: 'list', items }),
    ],
  };
}

/** Names the differences that are certain at any look, then those whose interval for one look excludes 0. */
function sentences({ arm, comparisons, decisive }: ArmComparison, control: string): string {
  const sure = comparisons.filter(({ always }) => excludesZero(always));
  const once = comparisons.filter((one) => !sure.includes(one) && excludesZero(one.difference));
  const isUnclear = (one: Comparison) => decisive.includes(one.metric) && !sure.includes(one) && !once.includes(one);
  const unclear = comparisons.filter(isUnclear).map(({ metric }) => nounOf(metric));
  const changesOf = (all: readonly Comparison[], interval: 'always' | 'difference') =>
    all.map(({ metric, percent, ...of }): Change => {
      if (metric === EGRESS && percent) return dataChange(percent[interval]);
      return { noun: nounOf(metric), ...metric, ...of };
    });
  const certain = `it is certain that ${changes(changesOf(sure, 'always'))}`;
  const found = { sure: sure.length > 0 ? certain : 'nothing is certain yet', once: changesOf(once, 'difference') };
  return verdict({ arm: arm.arm, control }, { ...found, unclear });
}

export const nounOf = ({ title }: TrialMetric) => title.split(',')[0]!;

function armTable({ arm, comparisons }: ArmComparison, control: string): Table {
  return {
    ...{ kind: 'table', names: ['metric'] },
    caption:
      'QoE, bitrate and latency are per second watched; intervals are 95 %, over whole clusters. "Difference" is for a ' +
      'single look at the end. "At any look" holds however often you look, and for all arms together, for each metric by ' +
      'itself: a difference is certain once that interval excludes 0. With two arms of one size, it needs some 60 ' +
      'viewers in each.',
    numbers: [control, arm.arm, 'difference', 'in %', 'difference, at any look'],
    rows: comparisons.map(({ metric: { title, digits }, difference, always, percent, ...of }) => [
      ...[title, fixed(of.control, digits), fixed(of.arm, digits), estimateCell(difference, { digits })],
      estimateCell(percent?.difference, { digits: 1 }),
      always.ci95 ? estimateCell(always, { digits }) : 'not yet: too few viewers',
    ]),
  };
}

function kindTable({ kinds, decisive }: ArmComparison): Table {
  return {
    ...{ kind: 'table', names: ['kind'] },
    caption: 'Differences between the arms; the intervals hold for all rows and columns together (Bonferroni).',
    numbers: ['sessions', ...decisive.map(({ title }) => title)],
    rows: kinds.map(({ name, sessions, comparisons }) => [
      ...[name, String(sessions)],
      ...comparisons.map(({ difference, metric: { digits } }) => estimateCell(difference, { digits })),
    ]),
  };
}

/** Leaves out metrics that hardly vary yet, because their spread is unknown. */
function powerTable({ comparisons, decisive }: ArmComparison): Table {
  const shown = comparisons.filter(
    ({ metric, control, contrast }) =>
      decisive.includes(metric) && control > 0 && contrast.clusters >= FEWEST_CLUSTERS && contrast.standardError > 0,
  );
  const needed = ({ control, contrast }: Comparison, percent: number) =>
    Math.max(2 * FEWEST_SESSIONS, Number(ratios.sessionsToFind((control * percent) / 100, contrast).toPrecision(2)));
  return {
    ...{ kind: 'table', names: ['metric'] },
    caption:
      'Sessions of both arms that find such a difference in 80 % of trials, at a single look; else about twice as many.',
    numbers: EFFECTS.map((percent) => `to find ${percent} %`),
    rows: shown.map((one) => [one.metric.title, ...EFFECTS.map((percent) => fixed(needed(one, percent), 0))]),
  };
}
