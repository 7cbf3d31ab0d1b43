/**
 * How true the origin keeps to a trace, measured by a page of the browser under test: one download after the other on a
 * link that is known exactly (a step down and up; a level per 15 s epoch with a dip at the boundary).
 */

import type { Browser } from 'playwright-core';
import { quantile } from '../../abr/quantile.ts';
import type { RunningOrigin } from '../origin/index.ts';
import { SCENARIOS, type Scenario, segmentSizesBits } from '../scenarios.ts';
import { linkOf } from '../simulator/session-setup.ts';
import type { Trace } from '../trace.ts';
import { responseSeconds } from './lateness.ts';
import { PAGE_PATH } from './page-files.ts';

export interface CalibrationRow {
  trace: string;
  downloads: number;
  /** Bits that came over those that the link carries in the same time. */
  goodputShare: number;
  /** Of download times against the link's, the browser's own time for a response taken off: signed median, 95th percentile of the absolute. */
  errorMedian: number;
  errorP95: number;
}

/** A trace to calibrate on and what is downloaded on it. */
export interface CalibrationCase {
  trace: Trace;
  scenario: Scenario;
  representation: number;
}

/** On each trace; both are measured one after the other. */
const SECONDS = 4;
const SMALL_LADDER_BPS = 5e6;
const MEDIUM_LADDER_BPS = 30e6;
const SEGMENTS = 2000;

/** The scales of ladders: `small` to 5 Mbit/s, `medium` to 30, `large` beyond. */
export type CalibrationScale = 'small' | 'medium' | 'large';

/** Links as those ladders meet them, and segments that take part of a second to a few on them. */
export function calibrationCases(scale: CalibrationScale): CalibrationCase[] {
  const { scenario: name, high, low, levels, representations } = SCALES[scale];
  const scenario: Scenario = { ...SCENARIOS[name]!, traceScale: { factor: 1 }, segmentCount: SEGMENTS };
  const mbps = (rates: readonly number[]) => rates.map((rate) => rate * 1e6);
  return [
    {
      trace: steps(`step ${high}/${low} Mbit/s`, step(high * 1e6, low * 1e6)),
      scenario,
      representation: representations[0],
    },
    {
      trace: steps(`epochs ${Math.min(...levels)} to ${Math.max(...levels)} Mbit/s`, epochs(mbps(levels))),
      scenario,
      representation: representations[1],
    },
  ];
}

interface ScaleRecipe {
  scenario: string;
  high: number;
  low: number;
  levels: readonly number[];
  representations: readonly [number, number];
}

/** Rates in Mbit/s; the representation that is downloaded on the step and on the epochs. */
const SCALES: Readonly<Record<CalibrationScale, ScaleRecipe>> = {
  small: { scenario: 'pensieve-60', high: 8, low: 2, levels: [5, 12, 3, 8], representations: [2, 1] },
  medium: { scenario: 'hd-16', high: 50, low: 8, levels: [30, 62, 15, 45], representations: [2, 2] },
  large: { scenario: 'uhd-8', high: 200, low: 30, levels: [120, 250, 60, 180], representations: [2, 3] },
};

/** The scale that a benchmark of a scenario is calibrated at. */
export function calibrationScale({ ladderBps }: Pick<Scenario, 'ladderBps'>): CalibrationScale {
  const top = ladderBps.at(-1)!;
  return top <= SMALL_LADDER_BPS ? 'small' : top <= MEDIUM_LADDER_BPS ? 'medium' : 'large';
}

/** Each case in a page of its own, started so that its first change of rate falls into the time measured. */
export async function calibrate(options: {
  browser: Browser;
  origin: RunningOrigin;
  cases: readonly CalibrationCase[];
  /** Per case. Default 4. */
  seconds?: number;
  signal?: AbortSignal | undefined;
}): Promise<CalibrationRow[]> {
  const { browser, origin, cases, seconds = SECONDS, signal } = options;
  const rows: CalibrationRow[] = [];
  for (const { trace, scenario, representation } of cases) {
    if (signal?.aborted === true) break;
    const startSeconds = Math.max(0, firstChangeSeconds(trace) - seconds / 2);
    const session = origin.createSession({
      trace,
      scenario: { ...scenario, segmentSizesBits: segmentSizesBits(scenario) },
      startSeconds,
    });
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(`${origin.url}${PAGE_PATH}`);
      const downloads = await page.evaluate(downloadFor, {
        folder: `${origin.url}/session/${session.id}/video-${representation}/`,
        milliseconds: seconds * 1000,
      });
      rows.push(rowOf(trace.name, downloads, linkOf(trace, scenario).from(startSeconds), scenario));
    } finally {
      await context.close();
      origin.removeSession(session.id);
    }
  }
  return rows;
}

interface Download {
  /** The session's second at which the origin had the request. */
  startSeconds: number;
  seconds: number;
  sizeBits: number;
}

/** Runs in the page. */
async function downloadFor({ folder, milliseconds }: { folder: string; milliseconds: number }): Promise<Download[]> {
  const downloads: Download[] = [];
  const begin = performance.now();
  for (let number = 1; performance.now() - begin < milliseconds; number++) {
    const startMs = performance.now();
    const response = await fetch(`${folder}${number}.m4s`);
    const { byteLength } = await response.arrayBuffer();
    downloads.push({
      startSeconds: Number(response.headers.get('x-session-seconds')),
      seconds: (performance.now() - startMs) / 1000,
      sizeBits: byteLength * 8,
    });
  }
  return downloads;
}

function rowOf(
  trace: string,
  downloads: readonly Download[],
  link: ReturnType<ReturnType<typeof linkOf>['from']>,
  { browser, rttSeconds }: Scenario,
): CalibrationRow {
  let bits = 0;
  let capacity = 0;
  const errors = downloads.map(({ startSeconds, seconds, sizeBits }) => {
    const own = seconds - responseSeconds(browser, sizeBits);
    bits += sizeBits;
    capacity += link.cumulativeBits(startSeconds + own) - link.cumulativeBits(startSeconds + rttSeconds);
    return own / link.downloadSeconds(startSeconds, sizeBits) - 1;
  });
  const round = (value: number) => Math.round(value * 1e4) / 1e4;
  return {
    trace,
    downloads: downloads.length,
    goodputShare: round(bits / capacity),
    errorMedian: round(quantile(Float64Array.from(errors).sort(), 0.5)),
    errorP95: round(quantile(Float64Array.from(errors, Math.abs).sort(), 0.95)),
  };
}

function firstChangeSeconds({ stepEndsSeconds }: Trace): number {
  return stepEndsSeconds[0]! < 2 ? stepEndsSeconds[1]! : stepEndsSeconds[0]!;
}

function step(high: number, low: number): [number, number][] {
  return [
    [10, high],
    [20, low],
    [60, high],
  ];
}

function epochs(levels: readonly number[]): [number, number][] {
  return levels.flatMap((level, i): [number, number][] => [
    [15 * i + 1, 0.75 * level],
    [15 * i + 15, level],
  ]);
}

function steps(name: string, ends: readonly [number, number][]): Trace {
  return {
    name,
    stepEndsSeconds: Float64Array.from(ends, ([end]) => end),
    ratesBps: Float64Array.from(ends, ([, rate]) => rate),
    durationSeconds: ends.at(-1)![0],
    metadata: { dataset: 'calibration', recordingGroup: 'calibration' },
  };
}
