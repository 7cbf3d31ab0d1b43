/** Metrics of the service for Prometheus. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { PredictionService } from '../prediction-service.ts';
import type { Rejection } from './wire.ts';

export interface Metrics {
  registry: Registry;
  /** `route` is the route's pattern, not the path, so that the number of series is bounded. */
  observeRequest(request: { method: string; route: string; status: number; seconds: number }): void;
  observeReport(report: { accepted: number; rejected: readonly Rejection[] }): void;
  observeRefusal(refusal: { code: string }): void;
}

export function createMetrics(service: PredictionService): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  watch(service, registry);
  const requests = new Counter({
    name: 'leo_abr_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'leo_abr_http_request_seconds',
    help: 'Time to answer, without event streams.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1],
    registers: [registry],
  });
  const observations = new Counter({
    name: 'leo_abr_observations_total',
    help: 'Observations of players, accepted or by the reason of their rejection.',
    labelNames: ['verdict'],
    registers: [registry],
  });
  const refusals = new Counter({
    name: 'leo_abr_refusals_total',
    help: 'Requests refused, by the code of the error.',
    labelNames: ['code'],
    registers: [registry],
  });
  return {
    registry,
    observeReport({ accepted, rejected }) {
      observations.inc({ verdict: 'accepted' }, accepted);
      for (const { reason, count } of rejected) observations.inc({ verdict: reason }, count);
    },
    observeRefusal: ({ code }) => refusals.inc({ code }),
    observeRequest({ seconds, ...labels }) {
      requests.inc(labels);
      durations.observe(seconds);
    },
  };
}

function watch(service: PredictionService, registry: Registry): void {
  const registers = [registry];
  /** Without a sample while `read` returns undefined. */
  const gauge = (name: string, help: string, read: () => number | undefined) =>
    new Gauge({
      name: `leo_abr_${name}`,
      help,
      registers,
      collect() {
        const value = read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  gauge('event_subscribers', 'Open event streams.', () => service.stream.size);
  gauge('players', 'Players that reported in the last seconds.', () => service.players);
  gauge('problems', 'Current problems.', () => service.problems.list().length);
  gauge('dish_latency_milliseconds', 'Ping of the dish, newest second.', () => service.state().dish.latencyMs);
  gauge('dish_drop_rate', 'Share of pings lost, newest second.', () => service.state().dish.dropRate);
  new Gauge({
    name: 'leo_abr_dish_state',
    help: "1 for the dish's current state.",
    labelNames: ['state'],
    registers,
    collect() {
      this.reset();
      this.set({ state: service.state().dish.state }, 1);
    },
  });
  const events = new Counter({
    name: 'leo_abr_events_total',
    help: 'Events published.',
    labelNames: ['type'],
    registers,
  });
  service.listen({ event: (type) => events.inc({ type }) });
  /** Of a number that is counted elsewhere. */
  const counter = (name: string, help: string, read: () => number) =>
    new Counter({
      name: `leo_abr_${name}_total`,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  counter(
    'slow_readers',
    'Event streams closed because their readers were too slow.',
    () => service.stream.slowReaders,
  );
  const recording = () => service.state().recording;
  counter('recording_lines', 'Lines recorded.', () => recording().lines);
  counter('recording_lost_lines', 'Lines lost because the disk was full.', () => recording().lost);
  counter('recording_deleted_files', 'Recordings deleted.', () => recording().deletedFiles);
  gauge('recording_waiting_lines', 'Lines waiting for the disk.', () => recording().waiting);
  new Counter({
    name: 'leo_abr_webhook_triggers_total',
    help: 'Triggers sent to the webhook, failed after all tries, or dropped because too many waited.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(service.webhookCounts)) this.inc({ result }, count);
    },
  });
}
