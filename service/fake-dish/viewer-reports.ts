/** Reports a simulated viewer to the service over its API, as players do, while no other player reports. */

import { type RequestOptions, request as sendHttp } from 'node:http';
import { request as sendHttps } from 'node:https';
import type { PlayerReport } from '../api/wire.ts';
import { GONE_SECONDS } from '../link/shared-link.ts';
import type { PredictionService } from '../prediction-service.ts';
import { SIMULATED_VIEWER, type SimulatedViewer } from './simulated-viewer.ts';

export interface ViewerReportsOptions {
  service: PredictionService;
  /** Of the service. */
  url: string;
  token: string | undefined;
}

/** As the plugin's client. */
const REPORT_MS = 500;
const TIMEOUT_MS = 2000;

/** Starts the viewer. It leaves the link to other players, whose forecasts would not count its part of the capacity. */
export function reportViewer(viewer: SimulatedViewer, options: ViewerReportsOptions): { close(): void } {
  const { service } = options;
  const { clock, session, problems } = service;
  // The clock of the simulated dish does not follow leaps of UTC either.
  const dishOffsetMs = clock.utcMs() - clock.monotonicMs();
  const closing = new AbortController();
  let othersSeconds = Number.NEGATIVE_INFINITY;
  service.listen({
    report({ player }) {
      if (player !== SIMULATED_VIEWER) othersSeconds = session.nowSeconds();
    },
  });
  const report = async () => {
    const dishMs = clock.monotonicMs() + dishOffsetMs;
    const leapMs = clock.utcMs() - dishMs;
    const observations = viewer.take(dishMs).map((observation) => {
      return { ...observation, startMs: observation.startMs + leapMs, endMs: observation.endMs + leapMs };
    });
    viewer.isPaused = session.nowSeconds() - othersSeconds <= GONE_SECONDS;
    if (viewer.isPaused) return;
    try {
      await post(
        { player: SIMULATED_VIEWER, observations, isDownloading: viewer.isDownloading },
        options,
        closing.signal,
      );
      problems.clear('viewer', 'failed');
    } catch (error) {
      if (!closing.signal.aborted) problems.report('viewer', 'failed', (error as Error).message);
    }
  };
  void report();
  const timer = setInterval(report, REPORT_MS);
  return {
    close() {
      clearInterval(timer);
      closing.abort();
    },
  };
}

function post(body: PlayerReport, { url, token }: ViewerReportsOptions, closing: AbortSignal): Promise<void> {
  const isTls = url.startsWith('https:');
  const options: RequestOptions = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    signal: AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)]),
    // It is the service of this process, whose certificate has the name that other devices use.
    ...(isTls && { rejectUnauthorized: false }),
  };
  return new Promise((resolve, reject) => {
    const sent = (isTls ? sendHttps : sendHttp)(`${url}/v1/observations`, options, (answer) => {
      answer.resume().once('end', () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`the simulated viewer cannot report: expected status 200, got ${answer.statusCode}`));
      });
      answer.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(JSON.stringify(body));
  });
}
