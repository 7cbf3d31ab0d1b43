/** Hints on handovers from the service beside the dish or from earlier traffic. The plugin has no hints. */

import { EPOCH_SECONDS } from '../../../abr/forecast.ts';
import type { HandoverClock } from './handover-clock.ts';
import { CELL_SECONDS, nearness } from './position.ts';
import { isMoment } from './rate-bins.ts';

/** Limit of a hint's confidence. */
const SUREST = 0.99;

/** `rateSeconds` at the latest hint. */
const hintedSeconds = new WeakMap<HandoverClock, number>();

/**
 * A source expects a handover at a second of the session's clock with a standard deviation of `uncertaintySeconds`, and
 * is right with probability `confidence`. Hints within an epoch repeat the same knowledge, so they count in proportion
 * to the time between them. Ignores impossible values.
 */
export function hintHandover(
  clock: HandoverClock,
  atSeconds: number,
  uncertaintySeconds: number,
  confidence: number,
): void {
  if (!isMoment(atSeconds) || !(uncertaintySeconds >= 0) || !(confidence > 0 && confidence <= 1)) return;
  const before = hintedSeconds.get(clock) ?? Number.NEGATIVE_INFINITY;
  const news = Math.min(1, (clock.rateSeconds - before) / EPOCH_SECONDS);
  if (!(news > 0)) return;
  hintedSeconds.set(clock, clock.rateSeconds);
  const sure = Math.min(confidence, SUREST);
  const near = nearness(atSeconds, Math.hypot(uncertaintySeconds, CELL_SECONDS));
  clock.weigh(
    near.map((ratio) => (1 - sure + sure * ratio) ** news),
    (1 - sure) ** news,
  );
}
