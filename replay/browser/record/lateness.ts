/**
 * Compares the ends of downloads in a browser with the ends that the trace prescribes. A session with too many late
 * downloads is rejected: the machine was busy, and its figures do not describe the algorithm.
 *
 * The browser's usual time between the last byte and the page's event, mostly to assemble a large response, does not
 * count as lateness (docs/decisions/README.md).
 */

import type { PlayerName } from '../../algorithms.ts';
import { groupBy } from '../../evaluation/group-by.ts';
import type { RequestLogEntry } from '../../origin/index.ts';
import type { BrowserModel } from '../../scenarios.ts';
import type { BrowserSessionRecord, DownloadTiming } from './session-record.ts';

/** A download is late if its excess over the prescribed duration is larger than both. */
const LATE_SHARE = 0.03;
const LATE_SECONDS = 0.05;
/** Seconds that a player adds to the scenario's model of the browser, which was measured with dash.js. */
const MORE_SECONDS: Readonly<Record<PlayerName, number>> = { dash: 0, hls: 0, shaka: 0.06 };
/** A session of whose bits more came late is rejected, unless `--late-share` says otherwise. */
export const TOLERATED_LATE_SHARE = 0.02;

/** Pairs the page's complete downloads with the origin's log. The parts of a segment are one download. */
export function downloadTimings(record: BrowserSessionRecord, log: readonly RequestLogEntry[]): DownloadTiming[] {
  const segments = log.filter(
    ({ kind, prescribedEndSeconds }) => kind === 'segment' && prescribedEndSeconds !== undefined,
  );
  const served = groupBy(segments, ({ representationId, segmentIndex }) => `${representationId} ${segmentIndex}`);
  return record.requests.flatMap(({ index, representationId, requestedAtSeconds, ...request }) => {
    const entries = served.get(`${representationId} ${index}`) ?? [];
    const first = request.outcome === 'complete' ? entries.shift() : undefined;
    if (first === undefined) return [];
    let [last, sizeBits] = [first, first.bytes * 8];
    while (sizeBits < request.receivedBits && entries.length > 0) {
      last = entries.shift()!;
      sizeBits += last.bytes * 8;
    }
    const measuredSeconds = request.endedAtSeconds - requestedAtSeconds;
    const prescribedSeconds = last.prescribedEndSeconds! - first.requestedAtSeconds;
    return [{ index, representationId, sizeBits, requestedAtSeconds, measuredSeconds, prescribedSeconds }];
  });
}

export function modelOf(player: PlayerName, browser: BrowserModel): BrowserModel {
  return { ...browser, responseSeconds: browser.responseSeconds + MORE_SECONDS[player] };
}

/** The time that an idle browser takes after the last byte of a response of this size. */
export function responseSeconds(browser: BrowserModel, sizeBits: number): number {
  return browser.responseSeconds + browser.responseSecondsPerBit * sizeBits;
}

export function isLate(
  { measuredSeconds, prescribedSeconds, sizeBits }: DownloadTiming,
  browser: BrowserModel,
): boolean {
  const lateSeconds = measuredSeconds - prescribedSeconds - responseSeconds(browser, sizeBits);
  return lateSeconds > Math.max(LATE_SHARE * prescribedSeconds, LATE_SECONDS);
}

/** Share of the bits that came late. By downloads, the algorithms that load the most would be rejected the least. */
export function lateShare(timings: readonly DownloadTiming[], browser: BrowserModel): number {
  const bits = (some: readonly DownloadTiming[]) => some.reduce((sum, { sizeBits }) => sum + sizeBits, 0);
  return timings.length === 0 ? 0 : bits(timings.filter((timing) => isLate(timing, browser))) / bits(timings);
}
