/** Sentences on what an algorithm or an arm changes against another one, for benchmarks and trials. */

import { seedOf } from '../../abr/statistics/random.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { placeKey } from '../../replay/evaluation/plan/plan.ts';
import { differences, pairedMeans } from '../../replay/evaluation/statistics/paired-means.ts';
import { unitsByDataset } from '../../replay/evaluation/statistics/resampling-units.ts';
import { ALL_DATASETS, type Estimate, type Results, type SessionResult } from '../../replay/results.ts';
import { dataDifference } from './figures.ts';
import { cellText, count, estimateCell, excludesZero, fixed, signed } from './format.ts';

export interface Change {
  noun: string;
  difference: Estimate;
  digits: number;
  isLowerBetter?: boolean;
  /** The difference is shown in percent of this value, if it is above 0, and without its interval. */
  control?: number;
  unit?: string;
  /** The difference is in percent of the data that is sent. */
  isData?: boolean;
}

/** Data are all bits that were sent to viewers, also in abandoned downloads. */
export const dataChange = (difference: Estimate): Change => ({
  ...{ noun: 'data sent', difference, digits: 1, unit: ' %', isLowerBetter: true, isData: true },
});

export const listed = (texts: readonly string[]) =>
  [texts.slice(0, -1).join(', '), texts[texts.length - 1]].filter(Boolean).join(' and ');

/** `sure`, what is certain of the pair; `once`, the changes that are certain at a single look; `unclear`: the others. */
export function verdict(
  { arm, control, of = '' }: { arm: string; control: string; of?: string },
  { sure, once = [], unclear }: { sure: string; once?: readonly Change[]; unclear: readonly string[] },
): string {
  return [
    `With \`${arm}\` instead of \`${control}\`${of}, ${sure}.`,
    ...(once.length > 0 ? [`If you look only this once: ${changes(once)}.`] : []),
    ...(unclear.length > 0 ? [`No difference was found in ${listed(unclear)}.`] : []),
  ].join(' ');
}

export const changes = (all: readonly Change[]) => listed(all.map(changeText));

function changeText({ noun, control, difference, digits, isLowerBetter = false, unit = '', isData }: Change): string {
  const isHigher = difference.value > 0;
  const size = Math.abs(difference.value);
  const shown = control! > 0 ? `${fixed((100 * size) / control!, 1)} %` : `${fixed(size, digits)}${unit}`;
  const interval = control === undefined ? `: ${intervalText({ difference, digits })}` : '';
  const judged = isHigher === isLowerBetter ? 'worse' : 'better';
  const text = isData
    ? `${shown} ${isHigher ? 'more' : 'less'} data is sent`
    : `${noun} is ${shown} ${isHigher ? 'higher' : 'lower'}`;
  return `${text} (${judged}${interval})`;
}

function intervalText({ difference, digits }: Pick<Change, 'difference' | 'digits'>): string {
  const text = cellText(estimateCell(difference, { digits }));
  return /\((.*)\)/.exec(text)?.[1] ?? text;
}

/** A sentence per other algorithm on its pairs with the baseline; none without sessions of the baseline. */
export function verdicts({ sessions, scenario, tool, summary }: Results): string[] {
  const { baseline, seed } = tool;
  const ways = unitsByDataset(sessions);
  const byAlgorithm = groupBy(sessions, ({ algorithm }) => algorithm);
  const [one, ...others] = ways.keys();
  const label = others.length > 0 ? ALL_DATASETS : one;
  const measures = measuresOf(scenario);
  const valuesOf = (session: SessionResult) => Object.fromEntries(measures.map(({ noun, of }) => [noun, of(session)]));
  return [...byAlgorithm].flatMap(([arm, own]) => {
    if (arm === baseline) return [];
    const means = pairedMeans<SessionResult, string>(own, byAlgorithm.get(baseline) ?? [], {
      keyOf: placeKey,
      valuesOf: differences(valuesOf),
      ways,
      seed: seedOf(JSON.stringify(['bootstrap', seed, label])),
    });
    if (!means) return [];
    const row = summary.find(({ dataset, algorithm }) => dataset === label && algorithm === arm);
    const data = dataDifference(row?.vsBaseline ?? null);
    const compared: Change[] = measures.map(({ of: _, ...measure }) => ({
      ...measure,
      difference: means[measure.noun]!,
    }));
    // Behind quality and stalls.
    if (data) compared.splice(2, 0, dataChange(data));
    const certain = compared.filter(({ difference }) => excludesZero(difference));
    const pair = { arm, control: baseline, of: ` (${count(means.pairs, 'pair')})` };
    if (means.units < 2) {
      const values = compared.map(({ noun, difference, digits, unit = '' }) => {
        return `${noun} ${signed(difference.value, digits)}${unit}`;
      });
      return verdict(pair, { sure: `one recording gives no interval: ${listed(values)}`, unclear: [] });
    }
    const unclear = compared
      .filter((change) => !certain.includes(change))
      .map((change) => `${change.noun} (${intervalText(change)}${change.unit ?? ''})`);
    if (certain.length === 0)
      return verdict(pair, { sure: `no difference was found in ${listed(unclear)}`, unclear: [] });
    return verdict(pair, { sure: changes(certain), unclear });
  });
}

type Measure = Omit<Change, 'difference'> & { of(session: SessionResult): number };

function measuresOf(scenario: Results['scenario']): Measure[] {
  const seconds = { digits: 2, isLowerBetter: true };
  if (scenario.live) {
    return [
      { noun: 'QoE', digits: 2, of: ({ live }) => live!.qoe },
      { noun: 'stalled time', unit: ' s/min', ...seconds, of: ({ live }) => live!.stallSecondsPerMinute },
      { noun: 'latency', unit: ' s', ...seconds, of: ({ live }) => live!.latencySecondsMean },
    ];
  }
  return [
    { noun: 'perceived QoE', digits: 1, of: ({ qoe }) => qoe.perceived },
    { noun: 'stalled time', unit: ' s', ...seconds, of: ({ stallSeconds }) => stallSeconds },
  ];
}
