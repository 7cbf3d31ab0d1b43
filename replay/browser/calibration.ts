/** Measures how exactly the origin follows a trace: a page downloads segments one after another on a known link. */

import type { Browser } from 'playwright-core';
import { quantile } from '../../abr/quantile.ts';
import type { RunningOrigin } from '../origin/index.ts';
import type { ResolvedScenario } from '../results.ts';
import type { Scenario } from '../scenarios.ts';
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

/** The trace's rate falls at this second. */
const CHANGE_SECONDS = 10;
/** More than are downloaded. */
const SEGMENTS = 2000;

/**
 * Downloads for `seconds` in a page of its own, on a trace that falls from 1.6 to 0.4 times the ladder's top bitrate in
 * the middle: a download takes a fraction of a second to a few seconds.
 */
export async function calibrate(options: {
  browser: Browser;
  origin: RunningOrigin;
  scenario: ResolvedScenario;
  seconds: number;
}): Promise<CalibrationRow> {
  const { browser, origin, seconds } = options;
  const { live: _, segmentSizesBits: __, ...onDemand } = options.scenario;
  const scenario: Scenario = { ...onDemand, traceScale: { factor: 1 }, segmentCount: SEGMENTS };
  const { ladderBps } = scenario;
  const trace = stepTrace(ladderBps.at(-1)!);
  const startSeconds = Math.max(0, CHANGE_SECONDS - seconds / 2);
  const session = origin.createSession({ trace, scenario, startSeconds });
  const page = await browser.newPage();
  try {
    await page.goto(`${origin.url}${PAGE_PATH}`);
    const representation = Math.floor((ladderBps.length - 1) / 2);
    const folder = `${origin.url}/session/${session.id}/video-${representation}/`;
    const downloads = await page.evaluate(downloadFor, { folder, milliseconds: seconds * 1000 });
    return calibrationRow(trace.name, downloads, linkOf(trace, scenario).from(startSeconds), scenario);
  } finally {
    await page.close();
    origin.removeSession(session.id);
  }
}

function stepTrace(topBps: number): Trace {
  const [high, low] = [1.6 * topBps, 0.4 * topBps];
  return {
    name: `step ${(high / 1e6).toFixed(1)}/${(low / 1e6).toFixed(1)} Mbit/s`,
    stepEndsSeconds: Float64Array.of(CHANGE_SECONDS, 2 * CHANGE_SECONDS, 60),
    ratesBps: Float64Array.of(high, low, high),
    durationSeconds: 60,
    metadata: { dataset: 'calibration', recordingGroup: 'calibration' },
  };
}

interface Download {
  /** When the origin received the request, on the session's clock. */
  startSeconds: number;
  seconds: number;
  sizeBits: number;
}

/** Downloads the segments in a folder for some time. Runs in the page, so it must not use anything of this module. */
export async function downloadFor(options: { folder: string; milliseconds: number }): Promise<Download[]> {
  const { folder, milliseconds } = options;
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
