/** Whether a session's three witnesses agree: what the rule logged, what dash.js asked for, what the element showed. */

import { videoClip } from '../media/index.ts';
import type { SessionRecord } from './session-record.ts';

/** The rule's log and the element may differ by this much in what was stalled: one looks before, one after a frame. */
const STALL_TOLERANCE_SECONDS = 0.2;

export interface ConsistencyOptions {
  segmentSeconds: number;
  segmentCount: number;
  /** What the plugin decided; false for dash.js's own rules, which log nothing. */
  hasDecisions: boolean;
}

/** What does not agree, in words; empty where all does. Segments of a session that was broken off are not looked at. */
export function inconsistencies(record: SessionRecord, options: ConsistencyOptions): string[] {
  if (record.endedBy !== 'end') return [];
  const found: string[] = [];
  const complete = record.requests.filter(({ outcome }) => outcome === 'complete');
  for (let index = 0; index < options.segmentCount; index++) {
    const ids = complete.filter((request) => request.index === index).map(({ representationId }) => representationId);
    if (ids.length !== 1) {
      found.push(`segment ${index} was loaded ${ids.length} times`);
      continue;
    }
    const id = ids[0]!;
    const width = videoClip(Number(id.replace('video-', ''))).width;
    const shown = record.widthsOnScreen[index] ?? [];
    if (shown.length !== 1 || shown[0] !== width) {
      found.push(`segment ${index}: ${id} is ${width} wide, on screen were [${shown.join(', ')}]`);
    }
    if (!options.hasDecisions) continue;
    const decided = record.decisions.filter(({ state }) => state.segmentIndex === index).at(-1)?.representationId;
    if (decided !== id) found.push(`segment ${index}: decided was ${decided}, loaded ${id}`);
  }
  if (options.hasDecisions) found.push(...stallDifferences(record, options.segmentSeconds));
  if (Math.abs(record.unaccountedSeconds) > STALL_TOLERANCE_SECONDS) {
    found.push(`the playhead lost ${record.unaccountedSeconds.toFixed(3)} s without a waiting event`);
  }
  return found;
}

/**
 * At each decision the rule's log says how long playback was stalled: what was loaded less the buffer was played, the
 * rest of the time was waited. The element's `waiting` and `playing` must say the same.
 */
function stallDifferences(record: SessionRecord, segmentSeconds: number): string[] {
  const { startupSeconds } = record;
  if (startupSeconds === undefined) return ['the playhead never moved'];
  for (const { kind, state } of record.decisions) {
    const { nowSeconds, segmentIndex, bufferLevelSeconds } = state;
    if (kind !== 'decide' || nowSeconds <= startupSeconds) continue;
    const byLog = nowSeconds - startupSeconds - (segmentIndex * segmentSeconds - bufferLevelSeconds);
    const byElement = record.stalls.reduce(
      (sum, { startSeconds, endSeconds }) => sum + Math.max(0, Math.min(endSeconds, nowSeconds) - startSeconds),
      0,
    );
    if (Math.abs(byLog - byElement) > STALL_TOLERANCE_SECONDS) {
      return [
        `at ${nowSeconds.toFixed(2)} s: stalled ${byLog.toFixed(3)} s by the rule's log, ` +
          `${byElement.toFixed(3)} s by the element`,
      ];
    }
  }
  return [];
}
