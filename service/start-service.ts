/** Puts the service together: parts, timers, HTTP. */

import type { AddressInfo } from 'node:net';
import { Metrics } from './api/metrics.ts';
import { type ApiLimits, createApi, DEFAULT_LIMITS } from './api/server.ts';
import { EVENT_TYPES } from './api/wire.ts';
import { type Clock, REAL_CLOCK } from './clock.ts';
import { DishMonitor } from './dish/dish-monitor.ts';
import type { LocationReading } from './dish/read-answers.ts';
import { type FakeDish, startFakeDish } from './fake-dish/fake-dish.ts';
import type { DishScript } from './fake-dish/simulated-dish.ts';
import { Place } from './place.ts';
import { PredictionService } from './prediction-service.ts';

export interface ServiceOptions {
  version: string;
  /** Default: 127.0.0.1. */
  host?: string;
  /** 0: any free one. */
  port: number;
  /** Names beside `localhost` and addresses that the Host header may have. Default: none. */
  allowedHosts?: readonly string[];
  /** Origins of pages beside those on loopback. Default: none. */
  allowedOrigins?: readonly string[];
  /** Bearer token that requests need. Default: none. */
  token?: string | undefined;
  /** PEM. Default: plain HTTP. */
  tls?: { cert: string; key: string } | undefined;
  limits?: Partial<ApiLimits>;
  /** The dish to watch: its `host:port`, or what a simulated one in this process sees. Default: none. */
  dish?: string | DishScript | undefined;
  /** Where the dish is; goes before what it says itself. */
  location?: LocationReading | undefined;
  /** Show the location as exactly as it is known. Default false: to a tenth of a degree. */
  showExactLocation?: boolean;
  /** Default: the machine's. */
  clock?: Clock;
  /** Told of faults of the program. Default: nobody. */
  onFault?: (error: Error) => void;
}

export interface RunningService {
  /** Without a slash at its end. */
  url: string;
  port: number;
  service: PredictionService;
  /** Ends connections, stops listening and writes out what is recorded. */
  close(): Promise<void>;
}

const TICK_MS = 100;

/** Rejects where the port is taken or the address is not one of this machine. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { version, port, host = '127.0.0.1', clock = REAL_CLOCK, onFault = () => {} } = options;
  const service = new PredictionService({ clock, version });
  const metrics = new Metrics();
  addGauges(metrics, service);
  const { log, stream } = service;
  const security = {
    allowedHosts: (options.allowedHosts ?? []).map((name) => name.toLowerCase()),
    allowedOrigins: options.allowedOrigins ?? [],
    token: options.token,
  };
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { tls } = options;
  const place = new Place({ given: options.location, showExactly: options.showExactLocation });
  service.attach({ location: () => place.shown() });
  const app = await createApi({ view: service, log, stream, metrics, security, limits, clock, version, tls, onFault });
  await app.listen({ host, port });
  const dish = await watchDish(options, { service, place });
  const timer = setInterval(() => {
    try {
      service.tick();
    } catch (error) {
      onFault(error instanceof Error ? error : new Error(String(error)));
    }
  }, TICK_MS);
  const address = app.server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${name}:${address.port}`,
    port: address.port,
    service,
    async close() {
      clearInterval(timer);
      dish?.close();
      stream.close();
      await app.close();
    },
  };
}

/** Undefined where there is none to watch. */
async function watchDish(
  { dish, location, clock = REAL_CLOCK }: ServiceOptions,
  { service, place }: { service: PredictionService; place: Place },
): Promise<{ close(): void } | undefined> {
  if (dish === undefined) return undefined;
  const simulated: FakeDish | undefined =
    typeof dish === 'string' ? undefined : await startFakeDish({ script: dish, clock, location });
  const monitor = new DishMonitor({
    address: simulated?.address ?? (dish as string),
    clock,
    problems: service.problems,
    onSecond: (second) => service.observeTelemetry(second),
    onStateChange: () => service.stateChanged(),
    onLocation(reading) {
      place.ofDish = reading;
    },
  });
  service.attach({ dish: monitor });
  monitor.start();
  return {
    close() {
      monitor.stop();
      simulated?.close();
    },
  };
}

function addGauges(metrics: Metrics, service: PredictionService): void {
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.add({ name: `leo_abr_${name}`, help, type: 'gauge', read });
  gauge('event_subscribers', 'Event streams open.', () => service.stream.size);
  gauge('players', 'Players heard of in the last seconds.', () => service.players);
  gauge('problems', 'Problems at the moment.', () => service.problems.list().length);
  gauge(
    'dish_latency_milliseconds',
    'Ping of the dish, newest second.',
    () => service.state().dish.latencyMs ?? Number.NaN,
  );
  gauge('dish_drop_rate', 'Share of pings lost, newest second.', () => service.state().dish.dropRate ?? Number.NaN);
  metrics.add({
    name: 'leo_abr_dish_state',
    help: '1 for the state that the dish is in.',
    type: 'gauge',
    read: () => [{ labels: { state: service.state().dish.state }, value: 1 }],
  });
  const events = new Map<string, number>(EVENT_TYPES.map((type) => [type, 0]));
  const onEvent = service.onEvent;
  service.onEvent = (type, data) => {
    events.set(type, events.get(type)! + 1);
    onEvent(type, data);
  };
  metrics.add({
    name: 'leo_abr_events_total',
    help: 'Events published.',
    type: 'counter',
    read: () => [...events].map(([type, value]) => ({ labels: { type }, value })),
  });
  metrics.add({
    name: 'leo_abr_slow_readers_total',
    help: 'Event streams broken off because they were not read.',
    type: 'counter',
    read: () => service.stream.slowReaders,
  });
}
