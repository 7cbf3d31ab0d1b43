/** Checks that a session's three records agree: the decisions, the player's requests, the element's pictures. */

import { videoClip } from '../../media/clips.ts';
import type { LiveStream } from '../../scenarios.ts';
import type { BrowserSessionRecord } from './session-record.ts';

/** Decisions look before a frame and the element after it, so they may differ by this. */
const TOLERANCE_SECONDS = 0.2;

interface Options {
  segmentSeconds: number;
  segmentCount: number;
  /** False for the player's own ABR. */
  hasDecisions: boolean;
  live?: LiveStream | undefined;
  /** Protocol of all segments; default: any. */
  protocol?: string;
}

export function inconsistencies(record: BrowserSessionRecord, options: Options): string[] {
  if (record.endedBy !== 'end') return [];
  const { live, protocol, hasDecisions, segmentCount, segmentSeconds } = options;
  const found = Array.from({ length: segmentCount }, (_, index) => segmentDifferences(record, index, options)).flat();
  if (record.live && live) found.push(...latencyDifferences(record, record.live, live));
  else if (hasDecisions) found.push(...stallDifferences(record, segmentSeconds));
  if (Math.abs(record.unaccountedSeconds) > TOLERANCE_SECONDS) {
    found.push(`the playhead lost ${record.unaccountedSeconds.toFixed(3)} s without a waiting event`);
  }
  const others = Object.keys(record.protocols).filter((name) => name !== (protocol ?? name));
  if (others.length > 0) found.push(`segments came over ${others.join(', ')}, not ${protocol}`);
  return found;
}

const widthOf = (representationId: string): number => videoClip(Number(representationId.replace('video-', ''))).width;

function segmentDifferences(record: BrowserSessionRecord, index: number, { live, hasDecisions }: Options): string[] {
  const requests = record.requests.filter((request) => request.index === index);
  const ids = requests.filter(({ outcome }) => outcome === 'complete').map(({ representationId }) => representationId);
  const shown = record.widthsOnScreen[index] ?? [];
  // A live session begins and ends within segments, and may jump.
  if (live && (ids.length === 0 || shown.length === 0)) return [];
  if (ids.length !== 1) return [`segment ${index} was loaded ${ids.length} times`];
  const id = ids[0]!;
  const found: string[] = [];
  // Chunks of a live segment play before its download ends, or is abandoned for the rest in another quality.
  const mayShow = live ? requests.map(({ representationId }) => widthOf(representationId)) : [widthOf(id)];
  if (!shown.every((width) => mayShow.includes(width)) || shown.length === 0) {
    found.push(
      `segment ${index}: ${id} is ${widthOf(id)} pixels wide, the widths on screen were [${shown.join(', ')}]`,
    );
  }
  const decided = record.decisions.filter(({ state }) => state.segmentIndex === index).at(-1)?.representationId;
  // After a jump dash.js loads the current representation without a decision.
  if (hasDecisions && decided !== id && !(live && decided === undefined)) {
    found.push(`segment ${index}: the decision was ${decided}, the request ${id}`);
  }
  return found;
}

/** The plugin's second 0 on the session's clock: its first request, which in a live session comes after second 0. */
const pluginZeroSeconds = ({ requests }: Pick<BrowserSessionRecord, 'requests'>) =>
  Math.min(...requests.map(({ requestedAtSeconds }) => requestedAtSeconds));

/** At each decision, elapsed time minus played media must equal the element's stalls so far. */
function stallDifferences(record: BrowserSessionRecord, segmentSeconds: number): string[] {
  const { startupSeconds } = record;
  if (startupSeconds === undefined) return ['the playhead never moved'];
  for (const { kind, state } of record.decisions) {
    const nowSeconds = pluginZeroSeconds(record) + state.nowSeconds;
    if (kind !== 'decide' || nowSeconds <= startupSeconds) continue;
    const played = state.segmentIndex * segmentSeconds - state.bufferLevelSeconds;
    const byElement = record.stalls.reduce(
      (sum, { startSeconds, endSeconds }) => sum + Math.max(0, Math.min(endSeconds, nowSeconds) - startSeconds),
      0,
    );
    const differing = difference(nowSeconds, [nowSeconds - startupSeconds - played, byElement]);
    if (differing) return [differing('stalled', 'the decisions')];
  }
  return [];
}

/** Compares the decisions' latencies and dash.js's last latency; other players count latency differently. */
function latencyDifferences(
  record: BrowserSessionRecord,
  { positions, endSeconds, shownLatencySeconds }: NonNullable<BrowserSessionRecord['live']>,
  { timeShiftSeconds }: LiveStream,
): string[] {
  if (shownLatencySeconds === undefined) return [];
  const zeroSeconds = pluginZeroSeconds(record);
  const known = record.decisions.flatMap(({ state: { nowSeconds, live } }) =>
    live ? [[zeroSeconds + nowSeconds, live.latencySeconds] as const] : [],
  );
  for (const [nowSeconds, latencySeconds] of [...known, [endSeconds, shownLatencySeconds] as const]) {
    const last = positions.filter(({ atSeconds }) => atSeconds <= nowSeconds).at(-1);
    const isStalled = record.stalls.some((one) => one.startSeconds <= nowSeconds && nowSeconds <= one.endSeconds);
    if (last === undefined || isStalled) continue;
    const byElement = nowSeconds + timeShiftSeconds - last.mediaSeconds - last.rate * (nowSeconds - last.atSeconds);
    const differing = difference(nowSeconds, [latencySeconds, byElement]);
    if (differing) return [differing('a latency of', 'dash.js')];
  }
  return [];
}

function difference(nowSeconds: number, [one, byElement]: [number, number]) {
  if (Math.abs(one - byElement) <= TOLERANCE_SECONDS) return undefined;
  return (what: string, by: string) =>
    `at ${nowSeconds.toFixed(2)} s: ${what} ${one.toFixed(3)} s according to ${by}, ` +
    `${byElement.toFixed(3)} s according to the element`;
}
