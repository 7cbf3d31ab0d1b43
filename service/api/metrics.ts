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

/** Metrics of what is known elsewhere. */
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
  const state = () => service.state();
  gauge('event_subscribers', 'Open event streams.', () => service.stream.size);
  gauge('players', 'Players that reported in the last seconds.', () => service.players);
  gauge('problems', 'Current problems.', () => service.problems.list().length);
  gauge('dish_latency_milliseconds', 'Ping of the dish, newest second.', () => state().dish.latencyMs);
  gauge('dish_drop_rate', 'Share of pings lost, newest second.', () => state().dish.dropRate);
  /** Totals by the value of a label, or one without a label. */
  const totals = (name: string, help: string, read: () => Readonly<Record<string, number>>, label?: string) =>
    new (label === 'state' ? Gauge : Counter)({
      name: `leo_abr_${name}`,
      help,
      labelNames: label === undefined ? [] : [label],
      registers,
      collect() {
        this.reset();
        for (const [value, count] of Object.entries(read()))
          this.inc(label === undefined ? {} : { [label]: value }, count);
      },
    });
  totals('dish_state', "1 for the dish's current state.", () => ({ [state().dish.state]: 1 }), 'state');
  totals('slow_readers_total', 'Event streams closed because their readers were too slow.', () => ({
    all: service.stream.slowReaders,
  }));
  totals('recording_lines_total', 'Lines recorded.', () => ({ all: state().recording.lines }));
  totals('recording_lost_lines_total', 'Lines lost because the disk was full.', () => ({
    all: state().recording.lost,
  }));
  totals('recording_deleted_files_total', 'Recordings deleted.', () => ({ all: state().recording.deletedFiles }));
  gauge('recording_waiting_lines', 'Lines waiting for the disk.', () => state().recording.waiting);
  const sent = 'Triggers sent to the webhook, failed after all tries, or dropped because too many waited.';
  totals('webhook_triggers_total', sent, () => service.webhookCounts, 'result');
  const help = 'Events published.';
  const events = new Counter({ name: 'leo_abr_events_total', help, labelNames: ['type'], registers });
  service.listen({ event: (type) => events.inc({ type }) });
}
