/** Reports a simulated viewer to the service while no other player reports. */

import { GONE_SECONDS } from '../link/shared-link.ts';
import type { PredictionService } from '../prediction-service.ts';
import { SIMULATED_VIEWER, type SimulatedViewer } from './simulated-viewer.ts';

/** As the plugin's client. */
const REPORT_MS = 500;

/** Starts the viewer. It leaves the link to other players, whose forecasts would not count its part of the capacity. */
export function reportViewer(viewer: SimulatedViewer, service: PredictionService): { close(): void } {
  const { clock, session } = service;
  // The clock of the simulated dish does not follow leaps of UTC either.
  const dishOffsetMs = clock.utcMs() - clock.monotonicMs();
  let othersSeconds = Number.NEGATIVE_INFINITY;
  service.listen({
    report({ player }) {
      if (player !== SIMULATED_VIEWER) othersSeconds = session.nowSeconds();
    },
  });
  const report = () => {
    const dishMs = clock.monotonicMs() + dishOffsetMs;
    const leapMs = clock.utcMs() - dishMs;
    const observations = viewer.take(dishMs).map((observation) => {
      return { ...observation, startMs: observation.startMs + leapMs, endMs: observation.endMs + leapMs };
    });
    viewer.isPaused = session.nowSeconds() - othersSeconds <= GONE_SECONDS;
    if (viewer.isPaused) return;
    service.observe({ player: SIMULATED_VIEWER, observations, isDownloading: viewer.isDownloading });
  };
  report();
  const timer = setInterval(report, REPORT_MS);
  return { close: () => clearInterval(timer) };
}
