/** Checks that a session's three records agree: the decisions, the player's requests, the element's pictures. */

import { videoClip } from '../media/index.ts';
import type { LiveStream } from '../scenarios.ts';
import type { SessionRecord } from './session-record.ts';

/**
 * The most that stalled time, or latency, may differ between decisions and element, which look before and after a frame.
 */
const TOLERANCE_SECONDS = 0.2;

/** The disagreements in words. None for sessions that did not end; `hasDecisions` is false for the player's own ABR. */
export function inconsistencies(
  record: SessionRecord,
  options: {
    segmentSeconds: number;
    segmentCount: number;
    hasDecisions: boolean;
    live?: LiveStream | undefined;
    /** Of all segments; default: any. */
    protocol?: string;
  },
): string[] {
  if (record.endedBy !== 'end') return [];
  const found: string[] = [];
  const { live } = options;
  const complete = record.requests.filter(({ outcome }) => outcome === 'complete');
  for (let index = 0; index < options.segmentCount; index++) {
    const ids = complete.filter((request) => request.index === index).map(({ representationId }) => representationId);
    const shown = record.widthsOnScreen[index] ?? [];
    // A live session begins and ends within segments, and may jump.
    if (live && (ids.length === 0 || shown.length === 0)) continue;
    if (ids.length !== 1) {
      found.push(`segment ${index} was loaded ${ids.length} times`);
      continue;
    }
    const id = ids[0]!;
    const width = widthOf(id);
    // Chunks of a live segment play before its download ends, or is abandoned for the rest in another quality.
    const mayShow = record.requests
      .filter((request) => request.index === index)
      .map((one) => widthOf(one.representationId));
    if (live ? !shown.every((one) => mayShow.includes(one)) : shown.length !== 1 || shown[0] !== width) {
      found.push(`segment ${index}: ${id} is ${width} pixels wide, the widths on screen were [${shown.join(', ')}]`);
    }
    if (!options.hasDecisions) continue;
    const decided = record.decisions.filter(({ state }) => state.segmentIndex === index).at(-1)?.representationId;
    // After a jump dash.js loads the current representation without a decision.
    if (live && decided === undefined) continue;
    if (decided !== id) found.push(`segment ${index}: the decision was ${decided}, the request ${id}`);
  }
  if (record.live && live) found.push(...latencyDifferences(record, record.live, live));
  else if (options.hasDecisions) found.push(...stallDifferences(record, options.segmentSeconds));
  if (Math.abs(record.unaccountedSeconds) > TOLERANCE_SECONDS) {
    found.push(`the playhead lost ${record.unaccountedSeconds.toFixed(3)} s without a waiting event`);
  }
  const { protocol } = options;
  const others = Object.keys(record.protocols ?? {}).filter((name) => name !== protocol);
  if (protocol !== undefined && others.length > 0)
    found.push(`segments came over ${others.join(', ')}, not ${protocol}`);
  return found;
}

/** The plugin's second 0 on the session's clock: its first request, which in a live session comes after second 0. */
const pluginZeroSeconds = ({ requests }: Pick<SessionRecord, 'requests'>) =>
  Math.min(...requests.map(({ requestedAtSeconds }) => requestedAtSeconds));

const widthOf = (representationId: string): number => videoClip(Number(representationId.replace('video-', ''))).width;

/**
 * Compares the stalled time at each decision: elapsed time minus played media (loaded media minus buffer) must equal
 * the duration of the element's stalls so far.
 */
function stallDifferences(record: SessionRecord, segmentSeconds: number): string[] {
  const { startupSeconds } = record;
  if (startupSeconds === undefined) return ['the playhead never moved'];
  for (const { kind, state } of record.decisions) {
    const { segmentIndex, bufferLevelSeconds } = state;
    const nowSeconds = pluginZeroSeconds(record) + state.nowSeconds;
    if (kind !== 'decide' || nowSeconds <= startupSeconds) continue;
    const byLog = nowSeconds - startupSeconds - (segmentIndex * segmentSeconds - bufferLevelSeconds);
    const byElement = record.stalls.reduce(
      (sum, { startSeconds, endSeconds }) => sum + Math.max(0, Math.min(endSeconds, nowSeconds) - startSeconds),
      0,
    );
    if (Math.abs(byLog - byElement) > TOLERANCE_SECONDS) {
      return [
        `at ${nowSeconds.toFixed(2)} s: stalled ${byLog.toFixed(3)} s according to the decisions, ` +
          `${byElement.toFixed(3)} s according to the element`,
      ];
    }
  }
  return [];
}

/**
 * Compares latencies with that of the element: dash.js's figure at the end, and those that decisions were based on
 * while it played. Other players count their latency differently.
 */
function latencyDifferences(
  record: SessionRecord,
  { positions, endSeconds, shownLatencySeconds }: NonNullable<SessionRecord['live']>,
  { timeShiftSeconds }: LiveStream,
): string[] {
  if (shownLatencySeconds === undefined) return [];
  const zeroSeconds = pluginZeroSeconds(record);
  const known = record.decisions.flatMap(({ state: { nowSeconds, live } }) =>
    live ? { nowSeconds: zeroSeconds + nowSeconds, latencySeconds: live.latencySeconds } : [],
  );
  known.push({ nowSeconds: endSeconds, latencySeconds: shownLatencySeconds });
  for (const { nowSeconds, latencySeconds } of known) {
    const last = positions.filter(({ atSeconds }) => atSeconds <= nowSeconds).at(-1);
    const isStalled = record.stalls.some(
      ({ startSeconds, endSeconds: end }) => startSeconds <= nowSeconds && nowSeconds <= end,
    );
    if (last === undefined || isStalled) continue;
    const { atSeconds, mediaSeconds, rate } = last;
    const ofElement = nowSeconds + timeShiftSeconds - mediaSeconds - rate * (nowSeconds - atSeconds);
    if (Math.abs(latencySeconds - ofElement) <= TOLERANCE_SECONDS) continue;
    return [
      `at ${nowSeconds.toFixed(2)} s: a latency of ${latencySeconds.toFixed(3)} s according to dash.js, ` +
        `${ofElement.toFixed(3)} s according to the element`,
    ];
  }
  return [];
}
