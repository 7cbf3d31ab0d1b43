/**
 * Measures how exactly the origin follows a trace: a page of the browser under test downloads segments one after
 * another on a known link (a step down and up; a rate per 15 s epoch with a dip at the boundary).
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
  /** Received bits / the link's capacity in the same time. */
  goodputShare: number;
  /** Relative error of download times, without the browser's own response time: median, 95th percentile of |error|. */
  errorMedian: number;
  errorP95: number;
}

interface CalibrationCase {
  trace: Trace;
  scenario: Scenario;
  representation: number;
  /** The first change of the trace's rate. */
  changeSeconds: number;
}

const SEGMENTS = 2000;

/**
 * Links for ladders up to a bitrate, in Mbit/s: rates of the step and of the epochs. Downloads of the two
 * representations (on the step, on the epochs) take a fraction of a second to a few seconds.
 */
const SCALES = [
  { topMbps: 5, scenario: 'pensieve-60', high: 8, low: 2, epochs: [5, 12, 3, 8], representations: [2, 1] },
  { topMbps: 30, scenario: 'hd-16', high: 50, low: 8, epochs: [30, 62, 15, 45], representations: [2, 2] },
  {
    topMbps: Number.POSITIVE_INFINITY,
    scenario: 'uhd-8',
    high: 200,
    low: 30,
    epochs: [120, 250, 60, 180],
    representations: [2, 3],
  },
] as const;

/** The links to calibrate on for a scenario's ladder. */
function calibrationCases({ ladderBps }: Pick<Scenario, 'ladderBps'>): CalibrationCase[] {
  const scale = SCALES.find(({ topMbps }) => ladderBps.at(-1)! <= topMbps * 1e6)!;
  const { high, low, epochs, representations } = scale;
  const scenario: Scenario = { ...SCENARIOS[scale.scenario]!, traceScale: { factor: 1 }, segmentCount: SEGMENTS };
  const step: [number, number][] = [
    [10, high],
    [20, low],
    [60, high],
  ];
  const epochSteps = epochs.flatMap((rate, i): [number, number][] => [
    [15 * i + 1, 0.75 * rate],
    [15 * i + 15, rate],
  ]);
  const epochsName = `epochs ${Math.min(...epochs)} to ${Math.max(...epochs)} Mbit/s`;
  return [
    {
      trace: stepTrace(`step ${high}/${low} Mbit/s`, step),
      scenario,
      representation: representations[0],
      changeSeconds: 10,
    },
    { trace: stepTrace(epochsName, epochSteps), scenario, representation: representations[1], changeSeconds: 15 },
  ];
}

/** Downloads on each link for `seconds`, each in its own page, with the first change of rate in the middle. */
export async function calibrate(options: {
  browser: Browser;
  origin: RunningOrigin;
  scenario: Pick<Scenario, 'ladderBps'>;
  seconds: number;
  signal?: AbortSignal | undefined;
}): Promise<CalibrationRow[]> {
  const { browser, origin, seconds, signal } = options;
  const rows: CalibrationRow[] = [];
  for (const { trace, scenario, representation, changeSeconds } of calibrationCases(options.scenario)) {
    if (signal?.aborted === true) break;
    const startSeconds = Math.max(0, changeSeconds - seconds / 2);
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
      rows.push(calibrationRow(trace.name, downloads, linkOf(trace, scenario).from(startSeconds), scenario));
    } finally {
      await context.close();
      origin.removeSession(session.id);
    }
  }
  return rows;
}

interface Download {
  /** When the origin received the request, on the session's clock. */
  startSeconds: number;
  seconds: number;
  sizeBits: number;
}

/** Downloads the segments in a folder for some time. Runs in the page, so it must not use anything of this module. */
export async function downloadFor({
  folder,
  milliseconds,
}: {
  folder: string;
  milliseconds: number;
}): Promise<Download[]> {
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

/** `link` begins at the session's second 0. */
export function calibrationRow(
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

/** A trace of steps: end in seconds, rate in Mbit/s. */
function stepTrace(name: string, steps: readonly [number, number][]): Trace {
  return {
    name,
    stepEndsSeconds: Float64Array.from(steps, ([end]) => end),
    ratesBps: Float64Array.from(steps, ([, mbps]) => mbps * 1e6),
    durationSeconds: steps.at(-1)![0],
    metadata: { dataset: 'calibration', recordingGroup: 'calibration' },
  };
}
