/** Assembles the service from its parts, timers and HTTP server. */

import type { Model } from '../predictor/forecast/quantile-forecaster.ts';
import { type ListenOptions, listen } from './api/http-server.ts';
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

/** `onFault` receives faults of timers, too. The log has problems, states of the dish and refused clients. */
export interface ServiceOptions extends ApiOptions, ListenOptions {
  /** `host:port` of the dish, or the script of a simulated one in this process. Default: none. */
  dish?: string | DishScript | undefined;
  /** Location of the dish. Default: the location that the dish reports. */
  location?: LocationReading | undefined;
  /** Whether the state has the exact location. Default: false, the location is rounded to a tenth of a degree. */
  showExactLocation?: boolean;
  /** Source of orbital elements. Default: none, and the state has no satellites. */
  elements?: Pick<ElementSourceOptions, 'source' | 'cacheDirectory' | 'maxAgeDays'> | undefined;
  /** Where to record. Default: nothing is recorded. */
  recording?: Pick<RecorderOptions, 'directory' | 'maxBytes' | 'files'> | undefined;
  /** Default: the built-in triggers. */
  config?: ServiceConfig | undefined;
  /** Model of the forecasts. Default: the shipped one. */
  model?: Model | undefined;
  /** Default: the clock of the machine. */
  clock?: Clock;
}

export interface RunningService {
  /** URL of the service, without a slash at its end. */
  url: string;
  port: number;
  service: PredictionService;
  /** Ends connections and finishes recordings. Rejects with a `LostLinesError` if records were lost. */
  close(): Promise<void>;
}

const TICK_MS = 100;
const SECOND_MS = 1000;
/** A state of the dish is logged when it has lasted this long: behind a tree, the state changes every second. */
const SETTLED_MS = 10_000;

/** Rejects if it cannot listen, or if the recordings' folder is unusable. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { version, clock = REAL_CLOCK, log = NO_LOG, dish, onFault = () => {} } = options;
  const service = new PredictionService({ clock, version, model: options.model });
  logProblems(service, log);
  let monitor: { location?: LocationReading | undefined } = {};
  const place = () => shownPlace(options.location ?? monitor.location, options.showExactLocation);
  service.attach({ location: place });

  // Parts are closed in reverse order, even if a later part fails to start.
  const parts: Part[] = [];
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
  const every = (ms: number, act: () => unknown) => {
    const run = async () => await act();
    const timer = setInterval(() => void run().catch(onFault), ms);
    parts.push({ close: () => clearInterval(timer) });
  };
  const around = { service, place, log, parts, every };
  try {
    // The recorder starts first and ends last, so that it records all requests.
    if (options.recording !== undefined) await record(options.recording, around);
    const app = await createApi(service, options);
    parts.push({ close: () => app.close() }, service.stream);
    const { url, port } = await listen(app, options);
    watchTriggers(options.config ?? { triggers: [...BUILT_IN_TRIGGERS] }, around);
    if (options.elements !== undefined) watchSky(options.elements, around);
    if (dish !== undefined) monitor = watchDish(dish, around);
    every(TICK_MS, () => service.tick());
    return { url, port, service, close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

export async function openApiDocument(version: string): Promise<object> {
  const app = await createApi(new PredictionService({ clock: REAL_CLOCK, version }), { version });
  const document = app.swagger();
  await app.close();
  return document;
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
      // For the dish, the next state is logged instead.
      else if (part !== 'dish') log.info({ part, code }, `over after ${seconds} s, reported ${reported}`);
    },
  });
}

interface Part {
  close(): void | Promise<void>;
}

interface Surroundings {
  service: PredictionService;
  place(): LocationReading | undefined;
  log: Log;
  /** Where a part adds itself to be closed. */
  parts: Part[];
  /** Calls a function periodically until the service is closed. */
  every(ms: number, act: () => unknown): void;
}

async function record(
  options: NonNullable<ServiceOptions['recording']>,
  { service, place, parts, every }: Surroundings,
): Promise<void> {
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
      // Readers can derive the state from the other records.
      if (type !== 'state') recorder.record(type, { data });
    },
    observation: (observation) => recorder.observation(observation, (seconds) => session.utcMsAt(seconds)),
    leap: () => recorder.onLeap(),
  });
  parts.push(recorder);
  every(SECOND_MS, () => recorder.flush());
}

function watchTriggers({ triggers }: ServiceConfig, { service }: Surroundings): void {
  const evaluation = new Triggers(triggers);
  const { session, clock } = service;
  const evaluate = (values: MetricValues, atMs: number) => {
    const atSeconds = session.secondsAt(atMs);
    // The history of the dish has seconds before the start, which fire no triggers.
    if (atSeconds <= session.startSeconds) return;
    for (const fired of evaluation.observe(values, { atSeconds, atMs })) service.publish('trigger', fired);
  };
  service.listen({
    telemetry: ({ atMs, ...second }) => evaluate(second, atMs),
    event: (type) => type === 'handover' && evaluate({ handover: true }, clock.utcMs()),
  });
}

function watchSky(options: NonNullable<ServiceOptions['elements']>, { service, place, every }: Surroundings): void {
  const { clock, problems } = service;
  const source = new ElementSource({ ...options, clock, problems });
  service.attach({ sky: new Sky({ source, place, clock }) });
  void source.refresh();
  every(60 * SECOND_MS, () => source.refresh());
}

function watchDish(dish: string | DishScript, { service, log, parts, every }: Surroundings) {
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
    // The first state, and a change to or from `unreachable`, are logged within a second.
    const isSettled = logged === 'connecting' || clock.utcMs() - sinceMs >= SETTLED_MS;
    if (state === logged || !(isSettled || [state, logged].includes('unreachable'))) return;
    logged = state;
    // If the dish is unreachable, its problem is logged instead.
    if (state !== 'unreachable') log.info({ part: 'dish', code: state }, detail ?? `the dish is ${state}`);
  };
  service.attach({ dish: monitor });
  parts.push(monitor);
  every(SECOND_MS, logState);
  monitor.start();
  return monitor;
}
