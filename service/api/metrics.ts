/** Metrics of the service for Prometheus. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { PredictionService } from '../prediction-service.ts';
import type { Rejection } from './wire.ts';

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1];

export class Metrics {
  readonly registry = new Registry();
  readonly #requests = this.#counter('http_requests', 'Requests answered.', ['method', 'route', 'status']);
  readonly #durations = new Histogram({
    name: 'leo_abr_http_request_seconds',
    help: 'Time to answer, without event streams.',
    buckets: BUCKETS_SECONDS,
    registers: [this.registry],
  });
  readonly #observations = this.#counter('observations', 'Observations of players, accepted or why rejected.', [
    'verdict',
  ]);
  readonly #refusals = this.#counter('refusals', 'Requests refused, by the code of the error.', ['code']);

  constructor(service: PredictionService) {
    const events = this.#counter('events', 'Events published.', ['type']);
    service.listen({ event: (type) => events.inc({ type }) });
    collectDefaultMetrics({ register: this.registry });
    const { stream, problems } = service;
    const dish = () => service.state().dish;
    const recording = () => service.state().recording;
    this.#gauge('event_subscribers', 'Open event streams.', () => stream.size);
    this.#gauge('players', 'Players that reported in the last seconds.', () => service.players);
    this.#gauge('problems', 'Current problems.', () => problems.list().length);
    this.#gauge('dish_latency_milliseconds', 'Ping of the dish, newest second.', () => dish().latencyMs);
    this.#gauge('dish_drop_rate', 'Share of pings lost, newest second.', () => dish().dropRate);
    this.#gauge('recording_waiting_lines', 'Lines waiting for the disk.', () => recording().waiting);
    const state = () => ({ [dish().state]: 1 });
    this.#totals(Gauge, 'dish_state', "1 for the dish's current state.", state, 'state');
    this.#total('slow_readers', 'Event streams closed as their readers were too slow.', () => stream.slowReaders);
    this.#total('recording_lines', 'Lines recorded.', () => recording().lines);
    this.#total('recording_lost_lines', 'Lines lost because the disk was full.', () => recording().lost);
    this.#total('recording_deleted_files', 'Recordings deleted.', () => recording().deletedFiles);
    const sent = 'Triggers sent to the webhook, failed after all tries, or dropped because too many waited.';
    this.#totals(Counter, 'webhook_triggers_total', sent, () => service.webhookCounts, 'result');
  }

  /** `route` is the route's pattern, not the path, so that the number of series is bounded. */
  observeRequest({ seconds, ...labels }: { method: string; route: string; status: number; seconds: number }): void {
    this.#requests.inc(labels);
    this.#durations.observe(seconds);
  }

  observeReport({ accepted, rejected }: { accepted: number; rejected: readonly Rejection[] }): void {
    this.#observations.inc({ verdict: 'accepted' }, accepted);
    for (const { reason, count } of rejected) this.#observations.inc({ verdict: reason }, count);
  }

  observeRefusal(code: string): void {
    this.#refusals.inc({ code });
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name: `leo_abr_${name}_total`, help, labelNames, registers: [this.registry] });
  }

  /** Without a sample while `read` returns undefined. */
  #gauge(name: string, help: string, read: () => number | undefined): void {
    const collect = function (this: Gauge) {
      const value = read();
      if (value === undefined) this.remove();
      else this.set(value);
    };
    new Gauge({ name: `leo_abr_${name}`, help, registers: [this.registry], collect });
  }

  #total(name: string, help: string, read: () => number): void {
    this.#totals(Counter, `${name}_total`, help, () => ({ all: read() }));
  }

  /** What is known elsewhere: numbers by the value of a label, or one without a label. */
  #totals(
    Kind: typeof Counter | typeof Gauge,
    name: string,
    help: string,
    read: () => Readonly<Record<string, number>>,
    label?: string,
  ): void {
    const collect = function (this: Counter | Gauge) {
      this.reset();
      const labels = (value: string) => (label === undefined ? {} : { [label]: value });
      for (const [value, count] of Object.entries(read())) this.inc(labels(value), count);
    };
    const labelNames = label === undefined ? [] : [label];
    new Kind({ name: `leo_abr_${name}`, help, labelNames, registers: [this.registry], collect });
  }
}
