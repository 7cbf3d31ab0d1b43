/** The page that plays one session of a benchmark; the runner drives it through `window.leoAbrBench`. */

import type { Controller } from 'leo-abr/live';
import { createController, qoeWeights } from '../../../abr/index.ts';
import { createBuiltInForecaster } from '../../../predictor/forecast/built-in-forecaster.ts';
import { SubSecond } from '../../../predictor/link/sub-second.ts';
import { type BrowserOracle, browserOracle } from '../../oracle/browser-oracle.ts';
import type { PublishedLink } from '../../origin/published-link.ts';
import { importOwnAlgorithms } from '../../own-algorithm.ts';
import { CUTOFF_SECONDS, liveSessionSeconds } from '../../scenarios.ts';
import { browserAlgorithm } from '../algorithms.ts';
import type { DecisionRecord, SessionConfig, SessionRecord } from '../session-record.ts';
import { loadPlayer } from './load-player.ts';
import { PlaybackEnd } from './playback-end.ts';
import { PlaybackMeter } from './playback-meter.ts';
import { RequestRecorder } from './request-recorder.ts';
import { ScreenRecorder } from './screen-recorder.ts';
import { TraceClock } from './trace-clock.ts';

const SAMPLE_MS = 25;
/** A session is stuck if it exceeds media + cutoff by this. */
const STUCK_SECONDS = 60;

let play: (() => Promise<SessionRecord>) | undefined;

window.leoAbrBench = {
  async prepare(config) {
    const session = await prepareSession(config);
    let record: Promise<SessionRecord> | undefined;
    play = () => {
      record ??= session.play();
      return record;
    };
  },
  play() {
    if (play === undefined) throw new Error('play(): call prepare() first');
    return play();
  },
};

async function prepareSession(config: SessionConfig) {
  const { sessionUrl, scenario, segmentCount, joinSeconds } = config;
  const { live } = scenario;
  const video = document.querySelector('video')!;
  const requests = new RequestRecorder(video, scenario.ladderBps);
  const clock = new TraceClock(`${sessionUrl}time`, () => requests.nowSeconds);
  await clock.synchronise();
  const decisions: DecisionRecord[] = [];
  const decisionMillis: number[] = [];
  let fault: string | undefined;

  const { player: playerName, controller: name, forecaster, catchUp } = browserAlgorithm(config.algorithm);
  const onFault = (message: string) => {
    fault ??= message;
  };
  const newPlayer = await loadPlayer(playerName);
  const player = newPlayer({ config, video, requests, clock, onFault });
  let oracle: BrowserOracle | undefined;
  if (forecaster === 'oracle') {
    const link = (await (await fetch(`${sessionUrl}link`)).json()) as PublishedLink;
    oracle = browserOracle({ ...link, startSeconds: link.startSeconds + joinSeconds });
    requests.onResponse = oracle.anchor;
  }
  if (name !== undefined) {
    const sizes = await (await fetch(`${sessionUrl}sizes.json`)).json();
    const { seed, own } = config;
    const create = own && (await importOwnAlgorithms([own])).get(name);
    const controller = create?.({ seed }) ?? createController(name, { seed });
    const handle = player.attach({
      // An explicit catch-up takes the place of the controller's pace.
      controller: withWeights(controller, config, { decisionMillis, isPacing: catchUp === undefined }),
      sizes,
      timeSource: clock,
      seed,
      ...(oracle && { forecasters: [oracle.forecaster] }),
      ...(forecaster?.startsWith('built-in') && {
        forecasters: [
          createBuiltInForecaster({
            handover: forecaster === 'built-in',
            newSubSecond: live && (() => new SubSecond()),
            ...(config.model && { model: config.model }),
          }),
        ],
      }),
    });
    handle.on('fault', ({ code, message, cause }) => {
      onFault(`${code}: ${message}${cause instanceof Error ? `\n${cause.stack}` : ''}`);
    });
    handle.on('decision', ({ kind, representationId, decision, state, inFlight, forecast }) => {
      const { weights, ...rest } = state;
      decisions.push({
        kind,
        representationId: player.representationId?.(representationId) ?? representationId,
        decision,
        state: rest,
        ...(inFlight && { inFlight }),
        ...(forecast && { forecast: { source: forecast.source, issuedAtMs: forecast.issuedAtMs } }),
      });
    });
  }
  return {
    async play(): Promise<SessionRecord> {
      const meter = new PlaybackMeter(video);
      const playback = new PlaybackEnd(video);
      const screen = new ScreenRecorder(video, scenario.segmentSeconds, segmentCount);
      const protocols = countProtocols();
      for (const type of ['timeupdate', 'playing', 'ended', 'pause', 'ratechange', 'seeking']) {
        video.addEventListener(type, () => meter.sample(requests.nowSeconds));
      }
      video.addEventListener('waiting', () => meter.onWaiting(requests.nowSeconds));
      // Shaka Player lets a stalled element wait at rate 0.
      video.addEventListener('ratechange', () => {
        if (video.playbackRate === 0) meter.onWaiting(requests.nowSeconds);
      });
      const manifestUrl = `${sessionUrl}manifest.mpd`;
      const liveEndSeconds = live && liveSessionSeconds({ ...scenario, live, segmentCount });
      if (live) requests.startClock((await startOfLive(manifestUrl, clock)) + joinSeconds * 1000);
      // The link's clock runs without this session.
      else if (joinSeconds > 0) await clock.startedAtMs();
      player.start();

      const longestSeconds = segmentCount * scenario.segmentSeconds + CUTOFF_SECONDS + STUCK_SECONDS;
      const begunMs = performance.now();
      const endedBy = await new Promise<SessionRecord['endedBy']>((resolve) => {
        const timer = setInterval(() => {
          const now = requests.nowSeconds;
          meter.sample(now);
          if ((performance.now() - begunMs) / 1000 > longestSeconds) onFault('the session did not end');
          const isOver = now >= (liveEndSeconds ?? Number.POSITIVE_INFINITY) || playback.isOver(now);
          const end = fault !== undefined ? 'fault' : isOver ? 'end' : undefined;
          const cutoff = meter.waitedSeconds(now) >= CUTOFF_SECONDS ? 'cutoff' : undefined;
          const endedBy = end ?? cutoff;
          if (endedBy === undefined) return;
          clearInterval(timer);
          resolve(endedBy);
        }, SAMPLE_MS);
      });
      const endSeconds = requests.nowSeconds;
      const shownLatencySeconds = player.latencySeconds?.();
      if (live) meter.end(endSeconds);
      requests.end();
      screen.stop();
      const quality = video.getVideoPlaybackQuality();
      await player.destroy();
      return {
        endedBy,
        ...(fault !== undefined && { fault }),
        requests: requests.requests,
        decisions,
        ...(meter.startedAtSeconds !== undefined && { startupSeconds: meter.startedAtSeconds }),
        stalls: meter.stalls,
        ...(live && {
          live: {
            positions: meter.positions,
            jumps: meter.jumps,
            endSeconds,
            ...(shownLatencySeconds !== undefined && { shownLatencySeconds }),
          },
        }),
        // On demand nothing seeks.
        unaccountedSeconds: meter.unaccountedSeconds() + (live ? 0 : meter.jumpedSeconds),
        widthsOnScreen: screen.widths,
        droppedFrames: quality.droppedVideoFrames,
        presentedFrames: quality.totalVideoFrames,
        decisionMillis,
        protocols,
        ...(oracle && { oracleOffsetSeconds: oracle.offsetSeconds }),
        userAgent: navigator.userAgent,
        playerVersion: player.version,
      };
    },
  };
}

/** The controller with the scenario's weights instead of the plugin's, with timed decisions, without pace if wanted. */
function withWeights(
  controller: Controller,
  { scenario }: SessionConfig,
  { decisionMillis, isPacing }: { decisionMillis: number[]; isPacing: boolean },
): Controller {
  const { ladderBps, mu, lambda } = scenario;
  const weights = { ...qoeWeights('linear', ladderBps), mu, lambda };
  const { reconsider, pace } = controller;
  return {
    name: controller.name,
    decide(state, forecast) {
      const began = performance.now();
      const decision = controller.decide({ ...state, weights }, forecast);
      decisionMillis.push(performance.now() - began);
      return decision;
    },
    ...(reconsider && {
      reconsider: (state, inFlight, forecast) => reconsider.call(controller, { ...state, weights }, inFlight, forecast),
    }),
    ...(pace &&
      isPacing && {
        pace: (state, inFlight, forecast) => pace.call(controller, { ...state, weights }, inFlight, forecast),
      }),
  };
}

/** Counts responses with segments from now on, by protocol. */
function countProtocols(): Record<string, number> {
  const counts: Record<string, number> = {};
  new PerformanceObserver((list) => {
    for (const { name, nextHopProtocol } of list.getEntries() as PerformanceResourceTiming[]) {
      // Of aborted requests it is empty.
      if (!/\/video-\d+\/\d+\.m4s$/.test(name) || nextHopProtocol === '') continue;
      counts[nextHopProtocol] = (counts[nextHopProtocol] ?? 0) + 1;
    }
  }).observe({ type: 'resource' });
  return counts;
}

/** Starts the origin's clock; returns the time of `performance.now()` at its second 0. */
async function startOfLive(manifestUrl: string, clock: TraceClock): Promise<number> {
  await fetch(manifestUrl);
  return clock.startedAtMs();
}
