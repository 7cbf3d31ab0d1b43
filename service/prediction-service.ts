/** The core, without network and timers: turns players' reports and telemetry into forecasts and state. */

import { EPOCH_SECONDS, HANDOVER_SECOND, type Observation } from '../abr/forecast.ts';
import type { Model } from '../predictor/forecast/quantile-forecaster.ts';
import { EventStream } from './api/event-stream.ts';
import type {
  DishReply,
  EventType,
  ForecastReply,
  HandoversReply,
  HistoryReply,
  ObservationsRequest,
  SkyReply,
  StateReply,
  WireObservation,
} from './api/wire.ts';
import { type Clock, SessionClock } from './clock.ts';
import { LastHour } from './dish/last-hour.ts';
import { LinkForecaster } from './link/link-forecaster.ts';
import { PassiveCapacity } from './link/passive-capacity.ts';
import { SharedLink } from './link/shared-link.ts';
import { type Problem, Problems } from './problems.ts';
import type { TelemetrySecond } from './telemetry.ts';

export interface ServiceParts {
  dish?: { reply(): DishReply };
  sky?: { reply(): SkyReply };
  recording?: { status(): StateReply['recording'] };
  location?: () => StateReply['location'];
}

export interface ServiceListener {
  event?(type: EventType, data: unknown): void;
  /** Player reports with at least one accepted observation. */
  report?(request: ObservationsRequest): void;
  /** Seconds of the dish, including its history, in order of time. */
  telemetry?(second: TelemetrySecond): void;
  /** Observations of the whole link, in order of time on the session clock. */
  observation?(observation: Observation): void;
  leap?(): void;
  problem?(problem: Readonly<Problem>, isOver: boolean): void;
}

/** A rate in bit/s. Its time is on the session clock, so that it stays right if UTC leaps. */
type Rate = { atSeconds: number; bps: number };

/** The forecaster learns from this much of the dish's history before the start. A multiple of the epoch. */
const PAST_SECONDS = 300;
/** The chart of the page shows this much of the past (`page/chart.js`). */
const CHART_SECONDS = 60;
const MOST_PLAYERS = 64;
/** If a dish answers, it is Starlink's, whose handovers follow the schedule to about a second. */
const DISH_HINT = { uncertaintySeconds: 1.5, confidence: 0.98 };
const FORECAST_PERIOD_SECONDS = 1;
const HEARTBEAT_SECONDS = 15;
/** A leap of the clock is shown as a problem for this time. */
const LEAP_SHOWN_SECONDS = 600;

export class PredictionService {
  readonly clock: Clock;
  readonly session: SessionClock;
  readonly problems: Problems;
  readonly stream = new EventStream();
  private readonly _version: string;
  private readonly _forecaster: LinkForecaster;
  private readonly _link: SharedLink;
  private readonly _passive = new PassiveCapacity();
  /** Usage, and medians of forecasts, of the last minute, oldest first. */
  private _usage: Rate[] = [];
  private _expected: Rate[] = [];
  private readonly _lastHour = new LastHour();
  private readonly _listeners: ServiceListener[] = [];
  private _parts: ServiceParts = {};
  private _forecastSeconds = Number.NEGATIVE_INFINITY;
  private _heartbeatSeconds = 0;
  private _leaptSeconds = Number.NEGATIVE_INFINITY;
  private _publishedMs = Number.NaN;
  private _nextHandoverMs = Number.POSITIVE_INFINITY;
  private _isStateNew = false;
  private _hintedSeconds = Number.NEGATIVE_INFINITY;

  /** `model`: default the shipped model. */
  constructor({ clock, version, model }: { clock: Clock; version: string; model?: Model | undefined }) {
    this.clock = clock;
    this._version = version;
    this.session = new SessionClock(clock, PAST_SECONDS);
    this.problems = new Problems(clock);
    this.problems.onChange = (problem, isOver) => {
      this.stateChanged();
      for (const listener of this._listeners) listener.problem?.(problem, isOver);
    };
    this._forecaster = new LinkForecaster(this.session, model);
    this._link = new SharedLink({
      mostPlayers: MOST_PLAYERS,
      emit: (observation) => {
        this._forecaster.observe(observation);
        for (const listener of this._listeners) listener.observation?.(observation);
      },
    });
  }

  listen(listener: ServiceListener): void {
    this._listeners.push(listener);
  }

  attach(parts: ServiceParts): void {
    this._parts = { ...this._parts, ...parts };
  }

  /** Call it ten times a second. */
  tick(): void {
    this._followClock();
    const nowSeconds = this.session.nowSeconds();
    if (nowSeconds - this._leaptSeconds > LEAP_SHOWN_SECONDS) this.problems.clear('clock', 'leapt');
    this._link.advance(nowSeconds);
    this._announceHandover();
    this._publishForecast(nowSeconds);
    if (this._isStateNew) {
      this._isStateNew = false;
      this.publish('state', this.state());
    }
    if (nowSeconds - this._heartbeatSeconds >= HEARTBEAT_SECONDS) {
      this._heartbeatSeconds = nowSeconds;
      this.stream.heartbeat();
    }
  }

  private _publishForecast(nowSeconds: number): void {
    if (nowSeconds - this._forecastSeconds < FORECAST_PERIOD_SECONDS - 0.05) return;
    this._forecastSeconds = nowSeconds;
    const reply = this.forecast();
    const issuedMs = reply.forecast?.issuedAtMs ?? Number.NaN;
    if (reply.forecast !== null && issuedMs !== this._publishedMs) {
      const { levels, quantilesBps } = reply.forecast;
      const bps = quantilesBps[0]![levels.findIndex((level) => level >= 0.5)]!;
      const atSeconds = this.session.secondsAt(issuedMs);
      this._expected = lastMinute([...this._expected, { atSeconds, bps }], nowSeconds);
      this.publish('forecast', reply);
    }
    this._publishedMs = issuedMs;
  }

  publish(type: EventType, data: unknown): void {
    this.stream.publish(type, data);
    for (const listener of this._listeners) listener.event?.(type, data);
  }

  stateChanged(): void {
    this._isStateNew = true;
  }

  /** Takes the seconds of the dish, in order of time. */
  observeTelemetry(second: TelemetrySecond): void {
    this._followClock();
    for (const listener of this._listeners) listener.telemetry?.(second);
    const atSeconds = this.session.secondsAt(second.atMs);
    this._lastHour.observe(atSeconds, second);
    const { downlinkUsageBps: bps } = second;
    if (bps !== undefined) {
      this._usage = lastMinute([...this._usage, { atSeconds, bps }], atSeconds);
      const observation = this._passive.observe(atSeconds, bps, this._link.lastBusySeconds);
      if (observation && atSeconds > this.session.startSeconds) this._forecaster.observe(observation);
      else if (observation && atSeconds >= 1) this._forecaster.recall(observation);
    }
    if (second.fromHistory === true || atSeconds < this._hintedSeconds + EPOCH_SECONDS) return;
    this._hintedSeconds = atSeconds;
    this._forecaster.hint({ atMs: nextScheduled(second.atMs), ...DISH_HINT });
  }

  forecast(): ForecastReply {
    this._followClock();
    const forecast = this._forecaster.latest();
    const observedSeconds = Math.round(this._forecaster.observedSeconds);
    const reply = { serverUtcMs: this.clock.utcMs(), observedSeconds };
    return 'because' in forecast ? { ...reply, forecast: null, ...forecast } : { ...reply, forecast };
  }

  handovers(): HandoversReply {
    this._followClock();
    const estimate = this._forecaster.handoverEstimate();
    return {
      serverUtcMs: this.clock.utcMs(),
      handovers: this._forecaster.nextHandovers(),
      epoch: {
        phaseMs: estimate === undefined ? null : Math.round(this.session.utcMsAt(estimate.phaseSeconds)),
        uncertaintySeconds: estimate?.uncertaintySeconds ?? null,
        leoProbability: estimate?.leoProbability ?? null,
      },
    };
  }

  history(): HistoryReply {
    const inUtc = (rates: readonly Rate[]) =>
      lastMinute(rates, this.session.nowSeconds()).map(({ atSeconds, bps }) => {
        return { atMs: Math.round(this.session.utcMsAt(atSeconds)), bps: Math.round(bps) };
      });
    const [downlinkUsage, expectedCapacity] = [inUtc(this._usage), inUtc(this._expected)];
    const lastHour = this._lastHour.minutes(this.session.nowSeconds()).map(({ startSeconds, ...minute }) => {
      return { startMs: Math.round(this.session.utcMsAt(startSeconds)), ...minute };
    });
    return { serverUtcMs: this.clock.utcMs(), downlinkUsage, expectedCapacity, lastHour };
  }

  state(): StateReply {
    const { dish, sky, recording, location } = this._parts;
    const place = location?.();
    const startedMs = Math.round(this.session.utcMsAt(this.session.startSeconds));
    return {
      serverUtcMs: this.clock.utcMs(),
      version: this._version,
      startedMs,
      dish: dish?.reply() ?? { state: 'unused', sinceMs: startedMs },
      sky: sky?.reply() ?? { state: 'unused', satellites: 0, inView: [] },
      link: {
        players: this._link.players,
        observedSeconds: this._forecaster.observedSeconds,
        eachPlayer: this._link.eachPlayer().map(({ lastSeenSeconds, ...player }) => {
          return { ...player, reportedMs: Math.round(this.session.utcMsAt(lastSeenSeconds)) };
        }),
      },
      ...(place !== undefined && { location: place }),
      recording: recording?.status() ?? { directory: null, lines: 0, waiting: 0, lost: 0, deletedFiles: 0 },
      problems: this.problems.list(),
    };
  }

  /** Takes a player's report. Returns a verdict per observation, or undefined for a player too many. */
  observe(request: ObservationsRequest) {
    this._followClock();
    const observations = request.observations.map((observation) => this._onSessionClock(observation));
    const nowSeconds = this.session.nowSeconds();
    const { isDownloading } = request;
    const verdicts = this._link.report(request.player, observations, { nowSeconds, isDownloading });
    if (verdicts === undefined) return undefined;
    if (verdicts.includes('accepted')) for (const listener of this._listeners) listener.report?.(request);
    return { serverUtcMs: this.clock.utcMs(), verdicts, share: this._link.share(request.player) };
  }

  /** Follows leaps of UTC. Call it before using UTC. */
  private _followClock(): void {
    const leap = this.session.check();
    if (leap === undefined) return;
    this._forecaster.updateUtc();
    for (const listener of this._listeners) listener.leap?.();
    this._nextHandoverMs = Number.POSITIVE_INFINITY;
    this._leaptSeconds = this.session.nowSeconds();
    this.publish('clock', { serverUtcMs: leap.atMs, leapSeconds: leap.seconds });
    this.problems.report('clock', 'leapt', `the clock of the machine was set by ${leap.seconds.toFixed(1)} s`);
  }

  private _onSessionClock(observation: WireObservation): Observation {
    if (observation.kind === 'request-latency') {
      const { kind, atMs, latencyMs } = observation;
      return { kind, atSeconds: this.session.secondsAt(atMs), latencySeconds: latencyMs / 1000 };
    }
    const { startMs, endMs, ...rest } = observation;
    return { ...rest, startSeconds: this.session.secondsAt(startMs), endSeconds: this.session.secondsAt(endMs) };
  }

  /** Publishes each handover once, when it is due. */
  private _announceHandover(): void {
    const nowMs = this.clock.utcMs();
    if (nowMs >= this._nextHandoverMs) {
      this.publish('handover', { atMs: this._nextHandoverMs, kind: 'due' });
      this._nextHandoverMs = Number.POSITIVE_INFINITY;
    }
    const next = this._forecaster.nextHandovers()[0];
    // The next handover is at least a second ahead: the estimate varies by ms, which must not announce it twice.
    if (next !== undefined && next.atMs > nowMs + 1000) this._nextHandoverMs = next.atMs;
  }
}

function lastMinute(rates: readonly Rate[], nowSeconds: number): Rate[] {
  return rates.filter(({ atSeconds }) => atSeconds >= nowSeconds - CHART_SECONDS);
}

function nextScheduled(utcMs: number): number {
  const period = EPOCH_SECONDS * 1000;
  return Math.ceil((utcMs - HANDOVER_SECOND * 1000) / period) * period + HANDOVER_SECOND * 1000;
}
