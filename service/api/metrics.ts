/** Metrics of the service for Prometheus. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { PredictionService } from '../prediction-service.ts';
import type { Rejection } from './wire.ts';

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1];

export class Metrics {
  readonly registry = new Registry();
  private readonly _requests = this._counter('http_requests', 'Requests answered.', 'method', 'route', 'status');
  private readonly _durations = new Histogram({
    name: 'leo_abr_http_request_seconds',
    help: 'Time to answer, without event streams.',
    buckets: BUCKETS_SECONDS,
    registers: [this.registry],
  });
  private readonly _observations = this._counter(
    'observations',
    'Observations of players, accepted or why rejected.',
    'verdict',
  );
  readonly refusals = this._counter('refusals', 'Requests refused, by the code of the error.', 'code');

  constructor(service: PredictionService) {
    const events = this._counter('events', 'Events published.', 'type');
    service.listen({ event: (type) => events.inc({ type }) });
    collectDefaultMetrics({ register: this.registry });
    const { stream, problems } = service;
    const dish = () => service.state().dish;
    const recording = () => service.state().recording;
    this._read('event_subscribers', 'Open event streams.', () => stream.size);
    this._read('players', 'Players that reported in the last seconds.', () => service.state().link.players);
    this._read('problems', 'Current problems.', () => problems.list().length);
    this._read('dish_latency_milliseconds', 'Ping of the dish, newest second.', () => dish().latencyMs);
    this._read('dish_drop_rate', 'Share of pings lost, newest second.', () => dish().dropRate);
    this._read('dish_state', "1 for the dish's current state.", () => ({ [dish().state]: 1 }), 'state');
    this._read('slow_readers_total', 'Event streams closed as their readers were too slow.', () => stream.slowReaders);
    this._read('recording_waiting_lines', 'Lines waiting for the disk.', () => recording().waiting);
    this._read('recording_lines_total', 'Lines recorded.', () => recording().lines);
    this._read('recording_lost_lines_total', 'Lines lost because the disk was full.', () => recording().lost);
    this._read('recording_deleted_files_total', 'Recordings deleted.', () => recording().deletedFiles);
  }

  /** `route` is the pattern of the route and not the path, so that the number of series is bounded. */
  observeRequest({ seconds, ...labels }: { method: string; route: string; status: number; seconds: number }): void {
    this._requests.inc(labels);
    this._durations.observe(seconds);
  }

  observeReport({ accepted, rejected }: { accepted: number; rejected: readonly Rejection[] }): void {
    this._observations.inc({ verdict: 'accepted' }, accepted);
    for (const { reason, count } of rejected) this._observations.inc({ verdict: reason }, count);
  }

  private _counter(name: string, help: string, ...labelNames: string[]): Counter {
    return new Counter({ name: `leo_abr_${name}_total`, help, labelNames, registers: [this.registry] });
  }

  /**
   * Adds a metric whose value is read when it is asked for: a number, numbers by `label`, or undefined for no sample.
   * If the name ends in `_total`, the metric is a counter, otherwise a gauge.
   */
  private _read(
    name: string,
    help: string,
    read: () => number | undefined | Readonly<Record<string, number>>,
    label?: string,
  ): void {
    const Kind = name.endsWith('_total') ? Counter : Gauge;
    const collect = function (this: Counter | Gauge) {
      this.reset();
      const value = read();
      if (typeof value === 'object') for (const [of, count] of Object.entries(value)) this.inc({ [label!]: of }, count);
      else if (value === undefined) this.remove();
      else this.inc(value);
    };
    const labelNames = label === undefined ? [] : [label];
    new Kind({ name: `leo_abr_${name}`, help, labelNames, registers: [this.registry], collect });
  }
}
