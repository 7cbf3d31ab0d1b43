/** The handovers that a page knows from earlier traffic, before its session shows them. Browser-safe. */

import type { CapacityPath, Forecaster, SessionContext } from '../abr/index.ts';
import { createBuiltInForecaster } from '../predictor/forecast/built-in-forecaster.ts';
import { HandoverClock } from '../predictor/link/handover-clock/handover-clock.ts';
import { hintHandover } from '../predictor/link/handover-clock/hint.ts';
import { SubSecond } from '../predictor/link/sub-second.ts';

/** The origin's clock, and the clock of a device synchronised with a time server. */
export const CLOCK_UNCERTAINTY_SECONDS = 0.01;
const PIECE_SECONDS = 0.1;

export interface KnownHandover {
  /** The next one after the session's start, in seconds of the session; its standard deviation, and the confidence. */
  atSeconds: number;
  uncertaintySeconds: number;
  confidence: number;
}

export interface EarlierTraffic {
  /** Capacity from second 0 of the trace. */
  link: Pick<CapacityPath, 'cumulativeBits'>;
  /** Second of the trace at which the session begins. */
  startSeconds: number;
  utcMsAtStart: number;
  /** A download filled the link for this long until the start, or from the trace's beginning. */
  watchedSeconds: number;
}

/** The plugin's own clock, fed with the earlier traffic; undefined where that has shown no handovers. */
export function knownHandover({
  link,
  startSeconds,
  utcMsAtStart,
  watchedSeconds,
}: EarlierTraffic): KnownHandover | undefined {
  const seconds = Math.min(watchedSeconds, startSeconds);
  const from = startSeconds - seconds;
  const clock = new HandoverClock({
    utcMsAtStart: utcMsAtStart - seconds * 1000,
    utcUncertaintySeconds: CLOCK_UNCERTAINTY_SECONDS,
  });
  const pieces = Math.floor(seconds / PIECE_SECONDS + 1e-9);
  for (let i = 0; i < pieces; i++) {
    const [begin, end] = [i * PIECE_SECONDS, (i + 1) * PIECE_SECONDS];
    const bits = link.cumulativeBits(from + end) - link.cumulativeBits(from + begin);
    clock.observe({ kind: 'throughput', startSeconds: begin, endSeconds: end, bits });
  }
  const estimate = clock.estimate(seconds);
  const next = estimate?.nextHandovers[0];
  if (next === undefined) return undefined;
  const { atSeconds, confidence } = next;
  return { atSeconds: atSeconds - seconds, uncertaintySeconds: estimate!.spreadSeconds, confidence };
}

/** The plugin's forecaster in a session that begins with this knowledge. It is a hint: the session's evidence decides. */
export function informedForecaster(known: KnownHandover | undefined): Forecaster {
  const forecaster = createBuiltInForecaster({ newSubSecond: () => new SubSecond() });
  const start = forecaster.start.bind(forecaster);
  return Object.assign(forecaster, {
    start(context: SessionContext) {
      start(context);
      if (known === undefined) return;
      hintHandover(forecaster.handoverClock!, known.atSeconds, known.uncertaintySeconds, known.confidence);
    },
  });
}
