/** The page that plays one session of a benchmark; the runner drives it through `window.leoAbrBench`. */

import { CONTROLLER_NAMES, type ControllerName, type Forecaster, type LeoAbrOptions } from 'leo-abr';
import { createBuiltInForecaster } from '../../../predictor/forecast/built-in-forecaster.ts';
import { unpackModel } from '../../../predictor/forecast/model-file.ts';
import { createOnnxForecaster } from '../../../predictor/onnx/index.ts';
import workerUrl from '../../../predictor/onnx/worker.ts?worker&url';
import { createServiceForecaster } from '../../../predictor/service-client/index.ts';
import type { Tools } from '../../../session/assemble.ts';
import { controllerOf, type ForecasterName, isOnnx } from '../../algorithms.ts';
import { scenarioQualities, scenarioWeights } from '../../objective.ts';
import { ObservedController } from '../../observed-controller.ts';
import { type BrowserOracle, browserOracle } from '../../oracle/browser-oracle.ts';
import type { PublishedLink } from '../../origin/published-link.ts';
import { importOwnAlgorithms } from '../../own-algorithm.ts';
import { assumedLink, CUTOFF_SECONDS, liveSessionSeconds } from '../../scenarios.ts';
import { type BrowserAlgorithm, browserAlgorithm } from '../algorithms.ts';
import { type DecisionRecord, decisionRecord } from '../record/decisions.ts';
import type { BrowserSessionRecord, SessionConfig } from '../record/session-record.ts';
import { loadPlayer } from './load-player.ts';
import { PlaybackEnd } from './playback-end.ts';
import { meterOf, type PlaybackMeter } from './playback-meter.ts';
import { RequestRecorder } from './request-recorder.ts';
import { ScreenRecorder } from './screen-recorder.ts';
import type { TestPlayer } from './test-player.ts';
import { TraceClock } from './trace-clock.ts';

const SAMPLE_MS = 25;
/** A session is stuck if it exceeds media + cutoff by this. */
const STUCK_SECONDS = 60;

let prepared: BenchSession | undefined;
let record: Promise<BrowserSessionRecord> | undefined;

window.leoAbrBench = {
  async prepare(config) {
    prepared = await BenchSession.prepare(config);
  },
  async play() {
    if (prepared === undefined) throw new Error('play(): call prepare() first');
    record ??= prepared.play();
    return record;
  },
};

class BenchSession {
  private readonly _algorithm: BrowserAlgorithm;
  private readonly _video = document.querySelector('video')!;
  private readonly _requests: RequestRecorder;
  private readonly _clock: TraceClock;
  private readonly _decisions: DecisionRecord[] = [];
  /** The controllers of the plugin's sessions, with their timings. */
  private readonly _controllers: ObservedController[] = [];
  private _player!: TestPlayer;
  private _oracle: BrowserOracle | undefined;
  private _fault: string | undefined;

  private constructor(private readonly _config: SessionConfig) {
    this._algorithm = browserAlgorithm(_config.algorithm);
    this._requests = new RequestRecorder(this._video, _config.scenario.ladderBps);
    this._clock = new TraceClock(`${_config.sessionUrl}time`, () => this._requests.nowSeconds);
  }

  static async prepare(config: SessionConfig): Promise<BenchSession> {
    const session = new BenchSession(config);
    // What the browser assumes depends on what it has played before.
    Object.defineProperty((navigator as { connection?: object }).connection ?? {}, 'downlink', {
      value: assumedLink(config.scenario).browserBps / 1e6,
    });
    await session._clock.synchronise();
    const { player: name, ownOf } = session._algorithm;
    const newPlayer = await loadPlayer(name);
    const [video, requests] = [session._video, session._requests];
    session._player = newPlayer({ config, video, requests, onFault: (message) => session._onFault(message) });
    if (ownOf === undefined) await session._attach();
    return session;
  }

  private _onFault(message: string): void {
    this._fault ??= message;
  }

  private async _json(path: string) {
    return (await fetch(`${this._config.sessionUrl}${path}`)).json();
  }

  /** The page's forecasters, with loaded models. */
  private async _forecasters(name: ForecasterName): Promise<Forecaster[]> {
    const { controller, oracleForm } = this._algorithm;
    const { scenario, joinSeconds, model, onnx, serviceUrl } = this._config;
    if (name === 'oracle') {
      const link = (await this._json('link')) as PublishedLink;
      this._oracle = browserOracle({ ...link, startSeconds: link.startSeconds + joinSeconds }, oracleForm);
      this._requests.onResponse = this._oracle.anchor;
      return [this._oracle.forecaster];
    }
    const subSecond = scenario.live !== undefined;
    const handover = name !== 'built-in:no-handover';
    const ofGroup = name === 'shipped' ? undefined : model;
    const builtIn = createBuiltInForecaster({ handover, subSecond, model: ofGroup && unpackModel(ofGroup) });
    // The plugin adds its built-in forecaster.
    const behind = controller === 'mpc-l' && handover && !ofGroup ? [] : [builtIn];
    if (name === 'service') return [createServiceForecaster(serviceUrl!), ...behind];
    if (!isOnnx(name)) return behind;
    const forecaster = createOnnxForecaster({ ...onnx!, workerUrl });
    while (forecaster.status === 'loading') await new Promise((resolve) => setTimeout(resolve, 10));
    return [forecaster, ...behind];
  }

  /** Returns one of the plugin's controllers as its name, as users give it, and any other as an object. */
  private async _controller(): Promise<NonNullable<LeoAbrOptions['controller']>> {
    const { seed, own } = this._config;
    const { controller: name } = this._algorithm;
    if ((CONTROLLER_NAMES as readonly string[]).includes(name)) return name as ControllerName;
    return controllerOf(this._algorithm, seed, await importOwnAlgorithms(own ? [own] : []));
  }

  /** Attaches the plugin with the algorithm's controller and forecaster. */
  private async _attach(): Promise<void> {
    const { scenario, seed } = this._config;
    const { forecaster, catchUp, objective } = this._algorithm;
    const controller = await this._controller();
    const forecasters = forecaster === undefined ? [] : await this._forecasters(forecaster);
    const indexOf = (id: string) => Number((this._player.representationId?.(id) ?? id).replace('video-', ''));
    const quality = scenarioQualities(scenario, this._algorithm, indexOf);
    const options: LeoAbrOptions = {
      controller,
      sizes: await this._json('sizes.json'),
      timeSource: this._clock,
      seed,
      ...(forecasters.length > 0 && { forecasters }),
      qoe: objective,
      ...(quality && { quality }),
    };
    const tools: Tools = {
      weightsOf: scenarioWeights(scenario, this._algorithm),
      observed: (one) => {
        const observed = new ObservedController(one, { timings: true });
        this._controllers.push(observed);
        // An explicit catch-up replaces the controller's pace.
        return catchUp === undefined ? observed : Object.assign(observed, { pace: undefined });
      },
    };
    const handle = this._player.attach(options, tools);
    handle.on('fault', ({ code, message, cause }) => {
      this._onFault(`${code}: ${message}${cause instanceof Error ? `\n${cause.stack}` : ''}`);
    });
    handle.on('decision', (event) => {
      const { representationId: id } = event;
      this._decisions.push(decisionRecord(event, this._player.representationId?.(id) ?? id));
    });
  }

  async play(): Promise<BrowserSessionRecord> {
    const { scenario, segmentCount } = this._config;
    const [video, requests, player] = [this._video, this._requests, this._player];
    const meter = meterOf(video, () => requests.nowSeconds);
    const screen = new ScreenRecorder(video, scenario.segmentSeconds, segmentCount);
    const protocols = countProtocols();
    await this._startClock();
    player.start();
    const endedBy = await this._untilEnd(meter);
    const endSeconds = requests.nowSeconds;
    const shownLatencySeconds = player.latencySeconds?.();
    // On demand, the element may wait after its last picture.
    if (scenario.live || endedBy !== 'end') meter.end(endSeconds);
    const records = structuredClone(requests.abandonAll());
    screen.stop();
    await player.destroy();
    const live = {
      ...{ positions: meter.positions, jumps: meter.jumps, endSeconds },
      ...(shownLatencySeconds !== undefined && { shownLatencySeconds }),
    };
    return {
      endedBy,
      ...(this._fault !== undefined && { fault: this._fault }),
      requests: records,
      decisions: this._decisions,
      ...(meter.startedAtSeconds !== undefined && { startupSeconds: meter.startedAtSeconds }),
      stalls: meter.stalls,
      ...(scenario.live && { live }),
      // On demand no player may seek.
      unaccountedSeconds: meter.unaccountedSeconds() + (scenario.live ? 0 : meter.jumpedSeconds),
      widthsOnScreen: screen.widths,
      decisionMillis: this._controllers.flatMap(({ decisionMillis }) => decisionMillis),
      protocols,
      ...(this._oracle && { oracleOffsetSeconds: this._oracle.offsetSeconds }),
      userAgent: navigator.userAgent,
      playerVersion: player.version,
    };
  }

  /** On demand without a household the first request starts the clock. */
  private async _startClock(): Promise<void> {
    const { sessionUrl, scenario, joinSeconds } = this._config;
    if (scenario.live) {
      // The manifest starts the origin's clock.
      await fetch(`${sessionUrl}manifest.mpd`);
      this._requests.startClock((await this._clock.startedAtMs()) + joinSeconds * 1000);
    } else if (joinSeconds > 0) await this._clock.startedAtMs();
  }

  private _untilEnd(meter: PlaybackMeter): Promise<BrowserSessionRecord['endedBy']> {
    const { scenario, segmentCount } = this._config;
    const { live } = scenario;
    const liveEndSeconds = live ? liveSessionSeconds({ ...scenario, live, segmentCount }) : Number.POSITIVE_INFINITY;
    const playback = new PlaybackEnd(this._video);
    const longestMs = 1000 * (segmentCount * scenario.segmentSeconds + CUTOFF_SECONDS + STUCK_SECONDS);
    const begunMs = performance.now();
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        const now = this._requests.nowSeconds;
        meter.sample(now);
        if (performance.now() - begunMs > longestMs) this._onFault('the session did not end');
        const isOver = now >= liveEndSeconds || playback.isOver(now);
        if (this._fault !== undefined) resolve('fault');
        else if (isOver) resolve('end');
        else if (meter.waitedSeconds(now) >= CUTOFF_SECONDS) resolve('cutoff');
        else return;
        clearInterval(timer);
      }, SAMPLE_MS);
    });
  }
}

/** Counts responses with segments from now on, by protocol. */
function countProtocols(): Record<string, number> {
  const counts: Record<string, number> = {};
  new PerformanceObserver((list) => {
    for (const { name, nextHopProtocol } of list.getEntries() as PerformanceResourceTiming[]) {
      // Aborted requests have an empty protocol.
      if (!/\/video-\d+\/\d+\.m4s$/.test(name) || nextHopProtocol === '') continue;
      counts[nextHopProtocol] = (counts[nextHopProtocol] ?? 0) + 1;
    }
  }).observe({ type: 'resource' });
  return counts;
}
