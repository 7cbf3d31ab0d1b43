/** dash.js 5.2.1's AbandonRequestsRule (src/streaming/rules/abr/AbandonRequestsRule.js), on by default beside any rule. */

import type { Decision, InFlight, PlayerState } from '../../../abr/controller.ts';
import { highestWithin } from '../../../abr/state/facts.ts';

/** The rule waits this long after the first byte (`minSegmentDownloadTimeThresholdInMs`), ... */
const ABANDON_AFTER_SECONDS = 0.5;
/** ... and keeps downloads that take less than this multiple of the segment's duration (`abandonDurationMultiplier`). */
const ABANDON_DURATIONS = 1.8;

/** After an abandonment, ThroughputRule is silent for this long (`abandonLoadTimeout`). */
export const ABANDONED_SECONDS = 10;

export const isAfterAbandonment = ({ downloads, nowSeconds }: PlayerState) =>
  downloads.some(
    ({ abandoned, requestedAtSeconds, downloadSeconds }) =>
      abandoned && nowSeconds < requestedAtSeconds + downloadSeconds + ABANDONED_SECONDS,
  );

/** dash.js's low-latency mode, which media in chunks turn on. There, this rule and InsufficientBufferRule do nothing. */
export const isLowLatency = ({ live, segmentSeconds }: PlayerState) => !!live && live.chunkSeconds < segmentSeconds;

export function abandonRequest(controller: string, state: PlayerState, inFlight: InFlight): Decision | 'keep' {
  const { ladderBps, bufferLevelSeconds, bufferCapSeconds, segmentSeconds, nowSeconds } = state;
  const { bitrateBps, sizeBits, receivedBits, firstByteAtSeconds, abandonments } = inFlight;
  const { lastBitsAtSeconds = nowSeconds } = inFlight;
  const isLowest = bitrateBps <= ladderBps[0]!;
  if (isLowest || firstByteAtSeconds === undefined || abandonments > 0 || isLowLatency(state)) return 'keep';
  if (bufferLevelSeconds > bufferCapSeconds || receivedBits >= sizeBits) return 'keep';
  // dash.js asks its rule when bits arrive, so not during an outage.
  const seconds = lastBitsAtSeconds - firstByteAtSeconds;
  if (!(seconds > ABANDON_AFTER_SECONDS)) return 'keep';
  const throughputBps = receivedBits / seconds;
  if (sizeBits / throughputBps < ABANDON_DURATIONS * segmentSeconds) return 'keep';
  const representation = highestWithin(ladderBps, throughputBps);
  const againBits = (sizeBits * ladderBps[representation]!) / bitrateBps;
  if (sizeBits - receivedBits <= againBits) return 'keep';
  const reason = `AbandonRequestsRule: ${(throughputBps / 1e6).toPrecision(3)} Mbit/s in this download`;
  return { representation, controller, reason };
}
