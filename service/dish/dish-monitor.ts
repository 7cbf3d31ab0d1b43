/** Polls a dish. If the dish is unreachable, asleep or booting, that is a state and no error. */

import { status as grpcStatus } from '@grpc/grpc-js';
import type { DishReply } from '../api/wire.ts';
import { type Clock, utcMsOf } from '../clock.ts';
import type { Problems } from '../problems.ts';
import { defined, type TelemetrySecond } from '../telemetry.ts';
import { CurrentState } from './current-state.ts';
import { type DeviceClient, newDeviceClient, type RawRequest, type RawResponse } from './device-api.ts';
import {
  type HistoryReading,
  type LocationReading,
  readHistory,
  readLocation,
  readStatus,
  type StatusReading,
} from './read-answers.ts';
import { type RequestError, reasonOf } from './why-unreachable.ts';

export interface DishMonitorOptions {
  /** `host:port`. */
  address: string;
  clock: Clock;
  problems: Problems;
  /** Receives each second of the dish once, in order of time, even if answers are late. */
  onSecond(second: TelemetrySecond): void;
  onStateChange(): void;
  /** Timeout of a request. Default 2 s. */
  deadlineMs?: number;
}

const PERIOD_MS = 1000;
const DEADLINE_MS = 2000;
/** Failures in succession until the dish counts as unreachable: one lost answer is no outage. */
const FAILURES_UNTIL_UNREACHABLE = 3;
const LONGEST_BACKOFF_MS = 30_000;
/** If a second is reported later than this after its end, it is marked `fromHistory`. */
const LATE_MS = 5000;
/** Largest correction per poll of the estimate of when seconds end, so that their times stay in order. */
const SLEW_MS = 100;
/** If the ends of seconds shift by more than this, the dish has rebooted. */
const SAME_BOOT_MS = 3000;
const LOCATION_PERIOD_MS = 600_000;
/** The reconnects of gRPC begin soon. Their pauses stay shorter than the longest pause of this monitor. */
const CHANNEL = {
  'grpc.initial_reconnect_backoff_ms': 500,
  'grpc.min_reconnect_backoff_ms': 500,
  'grpc.max_reconnect_backoff_ms': 10_000,
};

export class DishMonitor {
  private readonly _client: DeviceClient;
  private _timer: NodeJS.Timeout | undefined;
  private _isBusy = false;
  private _failures = 0;
  private _retryAtMs = Number.NEGATIVE_INFINITY;
  /** Monotonic time. */
  private _lastAnswerMs: number | undefined;
  /** Monotonic time at which second 0 of the dish ended; undefined without a history. */
  private _zeroMs: number | undefined;
  private _historyFailures = 0;
  /** Number of the newest reported second, and the monotonic time of its end. */
  private _newestNumber = 0;
  private _newestMs = Number.NEGATIVE_INFINITY;
  private _locationAtMs = Number.NEGATIVE_INFINITY;
  private readonly _current: CurrentState;
  private _reading: StatusReading | undefined;
  /** Undefined while the dish reports no location. */
  location: LocationReading | undefined;

  constructor(private readonly _options: DishMonitorOptions) {
    this._current = new CurrentState(_options);
    this._client = newDeviceClient(_options.address, CHANNEL);
  }

  start(): void {
    this._timer ??= setInterval(() => void this.poll(), PERIOD_MS);
    void this.poll();
  }

  close(): void {
    clearInterval(this._timer);
    this._client.close();
  }

  reply(): DishReply {
    const { hardware, software, fractionObstructed, uptimeSeconds, second } = this._reading ?? {};
    // Without a connection, measurements are outdated. Versions and the obstructed share still hold.
    const { state } = this._current;
    const isFresh = state !== 'unreachable' && state !== 'connecting';
    const { latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps } = second ?? {};
    const measured = { uptimeSeconds, latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps };
    const lastAnswerMs = this._lastAnswerMs && utcMsOf(this._lastAnswerMs, this._options.clock);
    const known = { hardware, software, fractionObstructed, lastAnswerMs };
    return { ...this._current.reply(), ...defined({ ...known, ...(isFresh && measured) }) };
  }

  /** Does nothing while a poll is pending or a retry is not due. Never rejects. */
  async poll(): Promise<void> {
    const { clock } = this._options;
    if (this._isBusy || clock.monotonicMs() < this._retryAtMs) return;
    this._isBusy = true;
    try {
      const history = this._askHistory();
      const response = await this._ask({ get_status: {} });
      const reading = readStatus(response.dish_get_status, clock.utcMs());
      if (reading === undefined) throw new Error('its answer has no status');
      this._take(reading);
      this._reportSeconds(reading.second, await history);
      await this._askLocation();
    } catch (error) {
      this._fail(error as RequestError);
    } finally {
      this._isBusy = false;
    }
  }

  private _ask(request: RawRequest): Promise<RawResponse> {
    return new Promise((resolve, reject) => {
      // A timer replaces the deadline of gRPC, which uses the system clock and breaks when that clock is set.
      const deadlineMs = this._options.deadlineMs ?? DEADLINE_MS;
      const call = this._client.Handle(request, { deadline: Number.POSITIVE_INFINITY }, (error, response) => {
        clearTimeout(timer);
        if (error !== null) reject(error);
        else resolve(response ?? {});
      });
      const timer = setTimeout(() => {
        const late = new Error(`no answer within ${deadlineMs / 1000} s`);
        reject(Object.assign(late, { code: grpcStatus.DEADLINE_EXCEEDED }));
        call.cancel();
      }, deadlineMs);
    });
  }

  /** Returns the answer, or an empty answer if the request fails. */
  private _tryAsk(request: RawRequest): Promise<RawResponse> {
    return this._ask(request).catch(() => ({}));
  }

  private async _askHistory(): Promise<TimedHistory | undefined> {
    const { clock } = this._options;
    const askedMs = clock.monotonicMs();
    const reading = readHistory((await this._tryAsk({ get_history: {} })).dish_get_history);
    return reading && { ...reading, askedMs, answeredMs: clock.monotonicMs() };
  }

  /** Reports seconds of the history, because late answers repeat or skip a second; without a history, the status. */
  private _reportSeconds(ofStatus: TelemetrySecond, history: TimedHistory | undefined): void {
    const { clock, onSecond } = this._options;
    const nowMs = clock.monotonicMs();
    const utcMs = clock.utcMs();
    if (history === undefined) {
      // The next history will contain this second, too.
      if (this._zeroMs !== undefined && ++this._historyFailures < FAILURES_UNTIL_UNREACHABLE) return;
      this._zeroMs = undefined;
      this._newestMs = nowMs;
      onSecond(ofStatus);
      return;
    }
    this._historyFailures = 0;
    const { current, oldest } = history;
    const isSameBoot = this._followSeconds(history);
    const endMs = (number: number) => this._zeroMs! + number * PERIOD_MS;
    const isNew = (number: number) =>
      isSameBoot ? number > this._newestNumber : endMs(number) > this._newestMs + PERIOD_MS / 2;
    let first = current + 1;
    while (first > oldest && isNew(first - 1)) first--;
    for (let number = first; number <= current; number++) {
      const ageMs = nowMs - endMs(number);
      this._newestNumber = number;
      this._newestMs = endMs(number);
      onSecond({
        atMs: Math.round(utcMs - ageMs),
        ...history.second(number),
        ...(number === current && { obstructed: ofStatus.obstructed }),
        ...(ageMs > LATE_MS && { fromHistory: true }),
      });
    }
  }

  /** Updates the estimate of when seconds end. Returns false if the dish has rebooted since the last history. */
  private _followSeconds({ current, askedMs, answeredMs }: TimedHistory): boolean {
    // Second `current` ended before the answer came. The next second ended after the request was sent.
    const latestMs = answeredMs - current * PERIOD_MS;
    const earliestMs = askedMs - (current + 1) * PERIOD_MS;
    const beforeMs = this._zeroMs ?? Number.NaN;
    const offMs = Math.min(latestMs, Math.max(earliestMs, beforeMs)) - beforeMs;
    // If the counter does not change, the dish has not rebooted.
    const isStanding = this._zeroMs !== undefined && current === this._newestNumber;
    const isSameBoot = isStanding || (current > this._newestNumber && Math.abs(offMs) <= SAME_BOOT_MS);
    const laterMs = isStanding ? offMs : Math.min(SLEW_MS, offMs);
    this._zeroMs = isSameBoot ? beforeMs + Math.max(-SLEW_MS, laterMs) : latestMs;
    return isSameBoot;
  }

  private _take(reading: StatusReading): void {
    const { clock, problems } = this._options;
    this._reading = reading;
    this._failures = 0;
    this._retryAtMs = Number.NEGATIVE_INFINITY;
    this._lastAnswerMs = clock.monotonicMs();
    problems.clear('dish', 'unreachable');
    this._current.show(reading);
  }

  private async _askLocation(): Promise<void> {
    const { clock } = this._options;
    if (clock.monotonicMs() - this._locationAtMs < LOCATION_PERIOD_MS) return;
    this._locationAtMs = clock.monotonicMs();
    // The request fails on most dishes until their owner allows it.
    this.location = readLocation((await this._tryAsk({ get_location: {} })).get_location) ?? this.location;
  }

  private _fail(error: RequestError): void {
    const { clock, problems, address } = this._options;
    this._failures++;
    // If the dish has never answered, it is reported at once.
    if (this._lastAnswerMs !== undefined && this._failures < FAILURES_UNTIL_UNREACHABLE) return;
    const doubled = PERIOD_MS * 2 ** Math.min(10, Math.max(0, this._failures - FAILURES_UNTIL_UNREACHABLE));
    this._retryAtMs = clock.monotonicMs() + Math.min(LONGEST_BACKOFF_MS, doubled) - PERIOD_MS / 2;
    const { reason, advice } = reasonOf(error, address);
    problems.report('dish', 'unreachable', `${address}: ${reason}${advice}`);
    this._current.enter('unreachable', reason);
  }
}

/** A history with the monotonic times of its request and its answer. */
type TimedHistory = HistoryReading & { askedMs: number; answeredMs: number };
