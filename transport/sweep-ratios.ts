/** Compares the settings of congestion controls by downloads on the same links (`leo-abr transport sweep`). */

import { InputError } from '../abr/errors.ts';
import { median } from '../abr/quantile.ts';
import { meansWithInterval } from '../replay/evaluation/bootstrap.ts';
import { groupBy } from '../replay/evaluation/group-by.ts';
import { mean } from '../replay/evaluation/quantiles.ts';
import type { Estimate } from '../replay/results.ts';
import type { DownloadResult, FlowGroup } from './download.ts';
import { CONGESTION_CONTROLS } from './kernel-support.ts';
import { quicCongestion } from './transport-program.ts';

/** One download; the same link, losses included, for all settings of a place. */
export interface SweepRow {
  dataset: string;
  trace: string;
  /** Recording group. */
  group: string;
  startSeconds: number;
  seed: number;
  /** `parseFlows`. */
  flows: string;
  /** Of each group of flows. */
  results: DownloadResult[];
}

/** What `sweep` writes and `report` reads. */
export interface SweepFile {
  tool: { name: string; version: string; commit: string | null; command: 'transport sweep'; seed: number };
  /** Its scale and RTT determine the links. */
  scenario: string;
  impairment: string;
  /** Of each download. */
  seconds: number;
  rows: SweepRow[];
}

/** The setting that others are compared with. */
export const DEFAULT_SETTING = 'bbr2';
/** A setting may have at most this p95 round trip, compared with the default's. */
export const MOST_RTT_RATIO = 1.1;
export const PROBE_RTT_MS = [1000, 2000, 4000, 5000, 10_000];
export const LOSS_THRESHOLDS = [0.02, 0.04, 0.08, 0.16];

export function gridSetting(probeRttMs: number, loss: number): string {
  return `bbr2:probe-rtt=${probeRttMs},loss=${loss}`;
}

/** The grid, the other congestion controls, and 8 CUBIC flows beside 8 others. */
export const DEFAULT_FLOWS = [
  ...['reno', 'cubic', DEFAULT_SETTING],
  ...PROBE_RTT_MS.flatMap((ms) => LOSS_THRESHOLDS.map((loss) => gridSetting(ms, loss))),
  ...['8*cubic+8*bbr2', '8*cubic+8*bbr2:probe-rtt=4000,loss=0.08'],
];

/** One flow of the kernel's TCP: a setting of its own, because it plays in real time. */
export const TCP_SETTINGS = new Map(CONGESTION_CONTROLS.map((name) => [`tcp-${name}`, name]));

/** Parses groups of flows side by side: `bbr2`, `8*cubic+8*bbr2:loss=0.08`. @throws {InputError} of `field` */
export function parseFlows(text: string, field = '--flows'): FlowGroup[] {
  if (TCP_SETTINGS.has(text)) return [{ congestion: text, flows: 1 }];
  return text.split('+').map((part) => {
    const [, count = '1', congestion] = /^(?:([1-9]\d?)\*)?(.+)$/.exec(part) ?? [];
    if (congestion === undefined) throw new InputError(field, 'such as bbr2 or 8*cubic+8*bbr2', text);
    return { congestion: quicCongestion(congestion, field), flows: Number(count) };
  });
}

export function placeOfRow({
  dataset,
  trace,
  startSeconds,
}: Pick<SweepRow, 'dataset' | 'trace' | 'startSeconds'>): string {
  return JSON.stringify([dataset, trace, startSeconds]);
}

/** A setting against the default, over the places that have both: geometric means of ratios. */
export interface Ratios {
  places: number;
  throughput: Estimate;
  rttP95: Estimate;
}

/** Per setting with a single group of flows; intervals over recording groups. */
export function ratiosToDefault(rows: readonly SweepRow[], { seed }: { seed: number }): Map<string, Ratios> {
  const found = new Map<string, Ratios>();
  for (const [flows, pairs] of pairsWithDefault(rows)) {
    const groups = [...new Set(pairs.map(({ group }) => group))];
    const units = { unitOf: pairs.map(({ group }) => groups.indexOf(group)), unitCount: groups.length, seed };
    const logs = { throughput: pairs.map((pair) => pair.throughput), rttP95: pairs.map((pair) => pair.rttP95) };
    const { throughput, rttP95 } = meansWithInterval(logs, units);
    found.set(flows, { places: pairs.length, throughput: asRatio(throughput), rttP95: asRatio(rttP95) });
  }
  return found;
}

/** Medians over the links, of downloads with one flow of a setting. Not measured: NaN. */
export function settingMedians(
  rows: readonly SweepRow[],
  flows: string,
): Required<Pick<DownloadResult, 'throughputBps' | 'rttSecondsP95' | 'lostShare'>> {
  const results = rows.filter((row) => row.flows === flows).map((row) => row.results[0]!);
  return {
    throughputBps: median(results.map(({ throughputBps }) => throughputBps)),
    rttSecondsP95: median(results.map(({ rttSecondsP95 = Number.NaN }) => rttSecondsP95)),
    lostShare: median(results.map(({ lostShare }) => lostShare)),
  };
}

export interface LeftOutChoice {
  /** The recording group that the choice did not see. */
  group: string;
  setting: string;
}

/**
 * For each recording group the setting that is best on the others (most throughput at less than `MOST_RTT_RATIO`), and
 * what these choices bring on the groups left out.
 */
export function chosenByLeavingOut(
  rows: readonly SweepRow[],
  options: { seed: number },
): { choices: LeftOutChoice[]; ratios: Ratios | undefined } {
  const choices = [...new Set(rows.map(({ group }) => group))].map((group) => {
    const candidates = [...pairsWithDefault(rows.filter((row) => row.group !== group))]
      .map(([setting, pairs]) => ({
        setting,
        throughput: mean(pairs.map((pair) => pair.throughput)),
        rttP95: mean(pairs.map((pair) => pair.rttP95)),
      }))
      .filter(({ setting, rttP95 }) => setting.startsWith('bbr2') && Math.exp(rttP95) < MOST_RTT_RATIO);
    const best = candidates.sort((a, b) => b.throughput - a.throughput)[0];
    return { group, setting: best?.setting ?? DEFAULT_SETTING };
  });
  const chosen = new Map(choices.map(({ group, setting }) => [group, setting]));
  const tuned = 'tuned';
  const heldOut = rows.flatMap((row) => [
    ...(row.flows === DEFAULT_SETTING ? [row] : []),
    ...(row.flows === chosen.get(row.group) ? [{ ...row, flows: tuned }] : []),
  ]);
  return { choices, ratios: ratiosToDefault(heldOut, options).get(tuned) };
}

interface Pair {
  group: string;
  /** Logarithms of the ratios. */
  throughput: number;
  rttP95: number;
}

/** A download in which nothing arrived has no ratio. */
function pairsWithDefault(rows: readonly SweepRow[]): Map<string, Pair[]> {
  const single = rows.filter(({ results }) => results.length === 1 && results[0]!.throughputBps > 0);
  const defaults = new Map(
    single.filter(({ flows }) => flows === DEFAULT_SETTING).map((row) => [placeOfRow(row), row.results[0]!]),
  );
  const pairs = single.flatMap((row) => {
    const [own, base] = [row.results[0]!, defaults.get(placeOfRow(row))];
    if (base === undefined) return [];
    const throughput = Math.log(own.throughputBps / base.throughputBps);
    const rttP95 = Math.log((own.rttSecondsP95 ?? Number.NaN) / (base.rttSecondsP95 ?? Number.NaN));
    return [{ flows: row.flows, group: row.group, throughput, rttP95 }];
  });
  return groupBy(pairs, ({ flows }) => flows);
}

function asRatio({ value, ci95 }: Estimate): Estimate {
  return { value: Math.exp(value), ci95: ci95 && [Math.exp(ci95[0]), Math.exp(ci95[1])] };
}
