/** Assembles the service: parts, timers, HTTP. */

import type { Model } from '../predictor/forecast/quantile-network.ts';
import { type ApiLimits, DEFAULT_LIMITS, type ListenOptions, listen } from './api/http-server.ts';
import { roundedDegrees } from './api/security.ts';
import { type ApiOptions, createApi } from './api/server.ts';
import type { DishStateName } from './api/wire.ts';
import { type Clock, REAL_CLOCK } from './clock.ts';
import { DishMonitor } from './dish/dish-monitor.ts';
import type { LocationReading } from './dish/read-answers.ts';
import type { DishScript } from './fake-dish/simulated-dish.ts';
import { SimulatedMonitor } from './fake-dish/simulated-monitor.ts';
import { type Log, NO_LOG } from './log.ts';
import { PredictionService } from './prediction-service.ts';
import { Recorder, type RecorderOptions } from './recording/recorder.ts';
import { ElementSource, type ElementSourceOptions } from './sky/element-source.ts';
import { Sky } from './sky/sky.ts';
import type { TelemetrySecond } from './telemetry.ts';
import { BUILT_IN_TRIGGERS, type ServiceConfig } from './triggers/config.ts';
import { type MetricValues, Triggers } from './triggers/triggers.ts';
import { Webhook } from './triggers/webhook.ts';

export interface ServiceOptions extends Pick<ApiOptions, 'trustedProxies' | 'version' | 'onFault'>, ListenOptions {
  /** Allowed names in the Host header, in addition to `localhost` and IP addresses. Default: none. */
  allowedHosts?: readonly string[];
  /** Allowed origins of pages, in addition to those on loopback. Default: none. */
  allowedOrigins?: readonly string[];
  /** Required bearer token. Default: none. */
  token?: string | undefined;
  limits?: Partial<ApiLimits>;
  /** `host:port` of the dish, or the script of a simulated one in this process. Default: none. */
  dish?: string | DishScript | undefined;
  /** Location of the dish. Default: as the dish reports it. */
  location?: LocationReading | undefined;
  /** Show the exact location in the state. Default false: to a tenth of a degree. */
  showExactLocation?: boolean;
  /** Source of orbital elements, a file or a URL. Default: none, without the sky. */
  elements?: Pick<ElementSourceOptions, 'source' | 'cacheDirectory' | 'maxAgeDays'> | undefined;
  /** Default: nothing is recorded. */
  recording?: Pick<RecorderOptions, 'directory' | 'maxBytes' | 'files'> | undefined;
  /** Default: the built-in triggers without a webhook. */
  config?: ServiceConfig | undefined;
  /** Model of the forecasts. Default: the shipped one. */
  model?: Model | undefined;
  /** Default: the machine's. */
  clock?: Clock;
  /** Receives problems, states of the dish and refused clients. Default: none of it is logged. */
  log?: Log;
}

export interface RunningService {
  /** The service's URL, without a trailing slash. */
  url: string;
  port: number;
  service: PredictionService;
  /** Ends connections and finishes recordings. Rejects with a `LostLinesError` if records were lost. */
  close(): Promise<void>;
}

const TICK_MS = 100;
const SECOND_MS = 1000;
/** States of the dish are logged once they have lasted this long: behind a tree, they change every second. */
const SETTLED_MS = 10_000;

/** Rejects if it cannot listen, or if the recordings' folder is unusable. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { version, clock = REAL_CLOCK, log = NO_LOG, dish, onFault = () => {} } = options;
  const service = new PredictionService({ clock, version, model: options.model });
  logProblems(service, log);
  let monitor: { location?: LocationReading | undefined } = {};
  const place = () => shownPlace(options.location ?? monitor.location, options.showExactLocation);
  service.attach({ location: place });

  // Closed in reverse order, also if a later part fails to start.
  const parts: { close(): void | Promise<void> }[] = [];
  const close = async () => {
    let failure: unknown;
    for (const part of parts.splice(0).reverse()) {
      try {
        await part.close();
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  };
  const around = { service, place, log, onFault };
  try {
    // First, because requests are recorded from the first to the last.
    if (options.recording !== undefined) parts.push(await record(options.recording, around));
    const app = await apiOf(service, options);
    parts.push({ close: () => app.close() }, service.stream);
    const { url, port } = await listen(app, options);
    parts.push(watchTriggers(options.config ?? { triggers: [...BUILT_IN_TRIGGERS] }, service));
    if (options.elements !== undefined) parts.push(watchSky(options.elements, around));
    if (dish !== undefined) {
      const watched = watchDish(dish, around);
      monitor = watched.monitor;
      parts.push(watched);
    }
    parts.push(every(TICK_MS, () => service.tick(), onFault));
    return { url, port, service, close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

export async function openApiDocument(version: string): Promise<object> {
  const app = await apiOf(new PredictionService({ clock: REAL_CLOCK, version }), { version });
  const document = app.swagger();
  await app.close();
  return document;
}

function apiOf(service: PredictionService, options: Omit<ServiceOptions, 'port'>): ReturnType<typeof createApi> {
  const { allowedHosts = [], allowedOrigins = [], token } = options;
  const security = { allowedHosts: allowedHosts.map((name) => name.toLowerCase()), allowedOrigins, token };
  return createApi(service, { ...options, security, limits: { ...DEFAULT_LIMITS, ...options.limits } });
}

function shownPlace(exact: LocationReading | undefined, showExactly = false): LocationReading | undefined {
  if (exact === undefined || showExactly) return exact;
  const { latitudeDegrees, longitudeDegrees } = exact;
  return { latitudeDegrees: roundedDegrees(latitudeDegrees), longitudeDegrees: roundedDegrees(longitudeDegrees) };
}

function logProblems(service: PredictionService, log: Log): void {
  service.listen({
    problem({ part, code, message, sinceMs, count }, isOver) {
      const seconds = Math.round((service.clock.utcMs() - sinceMs) / SECOND_MS);
      const reported = count === 1 ? 'once' : `${count} times`;
      if (!isOver) log.warn({ part, code }, message);
      // The dish's next state is logged instead.
      else if (part !== 'dish') log.info({ part, code }, `over after ${seconds} s, reported ${reported}`);
    },
  });
}

interface ServiceSurroundings {
  service: PredictionService;
  place(): LocationReading | undefined;
  log: Log;
  onFault: (error: Error) => void;
}

function every(ms: number, act: () => unknown, onFault: (error: Error) => void): { close(): void } {
  const run = async () => await act();
  const timer = setInterval(() => void run().catch(onFault), ms);
  return { close: () => clearInterval(timer) };
}

async function record(
  options: NonNullable<ServiceOptions['recording']>,
  { service, place, onFault }: ServiceSurroundings,
): Promise<{ close(): Promise<void> }> {
  const { clock, problems, session } = service;
  const where = () => {
    const shown = place();
    return shown && `${shown.latitudeDegrees}, ${shown.longitudeDegrees}`;
  };
  const recorder = new Recorder({ ...options, clock, problems, place: where });
  await recorder.open();
  service.attach({ recording: recorder });
  service.listen({
    telemetry: (second) => recorder.telemetry(second),
    report: ({ player, observations }) => recorder.record('report', { player, observations }),
    event(type, data) {
      // The state can be derived from the other records.
      if (type !== 'state') recorder.record(type, { data });
    },
    observation: (observation) => recorder.observation(observation, (seconds) => session.utcMsAt(seconds)),
    leap: () => recorder.onLeap(),
  });
  const timer = every(SECOND_MS, () => recorder.flush(), onFault);
  return {
    async close() {
      timer.close();
      await recorder.close();
    },
  };
}

function watchTriggers({ triggers, webhook }: ServiceConfig, service: PredictionService): { close(): void } {
  const hook = webhook === undefined ? undefined : new Webhook({ url: webhook, problems: service.problems });
  const evaluation = new Triggers(triggers);
  const { session, clock } = service;
  const evaluate = (values: MetricValues, atMs: number) => {
    const atSeconds = session.secondsAt(atMs);
    // The dish's history has seconds before the start.
    if (atSeconds <= session.startSeconds) return;
    for (const fired of evaluation.observe(values, { atSeconds, atMs })) {
      service.publish('trigger', fired);
      hook?.send(fired);
    }
  };
  service.listen({
    telemetry: ({ atMs, ...second }) => evaluate(second, atMs),
    event: (type) => type === 'handover' && evaluate({ handover: true }, clock.utcMs()),
  });
  return { close: () => hook?.close() };
}

function watchSky(
  options: NonNullable<ServiceOptions['elements']>,
  { service, place, onFault }: ServiceSurroundings,
): { close(): void } {
  const { clock, problems } = service;
  const source = new ElementSource({ ...options, clock, problems });
  service.attach({ sky: new Sky({ source, place, clock }) });
  source.refresh().catch(onFault);
  return every(60 * SECOND_MS, () => source.refresh(), onFault);
}

function watchDish(
  dish: string | DishScript,
  { service, log, onFault }: ServiceSurroundings,
): { monitor: DishMonitor | SimulatedMonitor; close(): void } {
  const { clock, problems } = service;
  const options = {
    clock,
    onSecond: (second: TelemetrySecond) => service.observeTelemetry(second),
    onStateChange: () => service.stateChanged(),
  };
  const monitor =
    typeof dish === 'string'
      ? new DishMonitor({ ...options, address: dish, problems })
      : new SimulatedMonitor({ ...options, script: dish });
  let logged: DishStateName = 'connecting';
  const logState = () => {
    const { state, sinceMs, detail } = monitor.reply();
    // The first one and a change to or from `unreachable` within a second.
    const isSettled = logged === 'connecting' || clock.utcMs() - sinceMs >= SETTLED_MS;
    if (state === logged || !(isSettled || [state, logged].includes('unreachable'))) return;
    logged = state;
    // An unreachable dish is a problem, which is logged as such.
    if (state !== 'unreachable') log.info({ part: 'dish', code: state }, detail ?? `the dish is ${state}`);
  };
  const timer = every(SECOND_MS, logState, onFault);
  service.attach({ dish: monitor });
  monitor.start();
  return {
    monitor,
    close() {
      timer.close();
      monitor.stop();
    },
  };
}
