/**
 * Watches a dish: its status and history every second, its obstruction map and its place. A dish that cannot be reached,
 * sleeps or boots is a state that others see, and never an error.
 */

import { status as grpcStatus } from '@grpc/grpc-js';
import type { DishReply, DishStateName } from '../api/wire.ts';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import { learnAttitudeField } from './attitude-field.ts';
import {
  type AttitudeField,
  attitudeFields,
  type DeviceClient,
  newDeviceClient,
  type OutageCause,
  type RawRequest,
  type RawResponse,
} from './device-api.ts';
import type { Attitude, ObstructionMap } from './obstruction-map.ts';
import { AnswerReader, type HistoryReading, type LocationReading, type StatusReading } from './read-answers.ts';

export interface DishMonitorOptions {
  /** `host:port`. */
  address: string;
  clock: Clock;
  problems: Problems;
  /** Each second of the dish once, in order of time, however late its answers are. */
  onSecond(second: TelemetrySecond): void;
  onStateChange(): void;
  /** Asked for every second where it is given. */
  onObstructionMap?: ((map: ObstructionMap, atMs: number, attitude: Attitude | undefined) => void) | undefined;
  onLocation?: ((location: LocationReading) => void) | undefined;
  /** Uniform in [0, 1), for the jitter of retries. Default: `Math.random`. */
  random?: () => number;
  /** Until an answer counts as missing. Default 2 s. */
  deadlineMs?: number;
}

const PERIOD_MS = 1000;
const DEADLINE_MS = 2000;
/** One lost answer is no outage. */
const FAILURES_UNTIL_UNREACHABLE = 3;
const LONGEST_BACKOFF_MS = 30_000;
/** A second that is told of so long after its end is of the past: nobody asked in time. */
const LATE_MS = 5000;
/** What is known of when the dish's seconds end is followed by so much a poll, so that their times stay in order. */
const SLEW_MS = 100;
/** Seconds that seem to end so much earlier or later than before are counted from another boot. */
const SAME_BOOT_MS = 3000;
/** A dish whose uptime is behind by more than this has booted. */
const UPTIME_SLACK_SECONDS = 5;
/** It is still booting for so long where no ping comes back yet. */
const BOOT_SECONDS = 300;
/** Pings lost from which a second counts as an outage, whatever the dish calls it. */
const OUTAGE_DROP_RATE = 0.99;
const LOCATION_PERIOD_MS = 600_000;
/** gRPC's own attempts to connect: soon at first, no further apart than ours. */
const CHANNEL = {
  'grpc.initial_reconnect_backoff_ms': 500,
  'grpc.min_reconnect_backoff_ms': 500,
  'grpc.max_reconnect_backoff_ms': 10_000,
};

export class DishMonitor {
  readonly #options: DishMonitorOptions;
  #client: DeviceClient;
  /** Where the dish's attitude is; asked for once per firmware, where its map needs it. */
  #attitudeField: AttitudeField | undefined;
  #attitudeAskedOf: string | undefined;
  readonly #reader = new AnswerReader();
  #timer: NodeJS.Timeout | undefined;
  #isBusy = false;
  #failures = 0;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #lastAnswerMs: number | undefined;
  /** When the second before the dish's first one ended, on the even clock; undefined without a history. */
  #zeroMs: number | undefined;
  #historyFailures = 0;
  /** Number and end, on the even clock, of the newest second that was told. */
  #toldNumber = 0;
  #toldMs = Number.NEGATIVE_INFINITY;
  #locationAtMs = Number.NEGATIVE_INFINITY;
  #state: DishStateName = 'connecting';
  #sinceMs: number;
  #detail: string | undefined;
  #reading: StatusReading | undefined;
  /** When it began to count its uptime, on the even clock. */
  #upSinceMs: number | undefined;
  #bootedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: DishMonitorOptions) {
    this.#options = options;
    this.#sinceMs = options.clock.utcMs();
    this.#client = newDeviceClient(options.address, CHANNEL);
  }

  /** Begins to ask once a second. */
  start(): void {
    this.#timer ??= setInterval(() => void this.poll(), PERIOD_MS);
    void this.poll();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#client.close();
  }

  reply(): DishReply {
    const reading = this.#reading;
    // What was measured is of its second; the rest stays true.
    const isFresh = this.#state !== 'unreachable' && this.#state !== 'connecting';
    const second = isFresh ? reading?.second : undefined;
    return {
      state: this.#state,
      sinceMs: this.#sinceMs,
      malformedValues: this.#reader.malformed,
      ...defined({
        detail: this.#detail,
        hardware: reading?.hardware,
        software: reading?.software,
        uptimeSeconds: isFresh ? reading?.uptimeSeconds : undefined,
        latencyMs: second?.latencyMs,
        dropRate: second?.dropRate,
        downlinkUsageBps: second?.downlinkUsageBps,
        uplinkUsageBps: second?.uplinkUsageBps,
        fractionObstructed: reading?.fractionObstructed,
        lastAnswerMs: this.#lastAnswerMs,
      }),
    };
  }

  /** Asks once, unless an answer is awaited or it is too early to try again. Never rejects. */
  async poll(): Promise<void> {
    const { clock } = this.#options;
    if (this.#isBusy || clock.monotonicMs() < this.#retryAtMs) return;
    this.#isBusy = true;
    try {
      const history = this.#askHistory();
      const response = await this.#ask({ get_status: {} });
      const reading = this.#reader.status(response.dish_get_status, clock.utcMs(), this.#attitudeField);
      if (reading === undefined) throw new Error('its answer holds no status');
      this.#take(reading);
      this.#tell(reading.second, await history);
      await this.#askFurther();
    } catch (error) {
      this.#fail(error as Error & { code?: number });
    } finally {
      this.#isBusy = false;
    }
  }

  #ask(request: RawRequest): Promise<RawResponse> {
    return new Promise((resolve, reject) => {
      // gRPC's deadline goes by the clock of the machine, which may leap while it waits.
      const deadlineMs = this.#options.deadlineMs ?? DEADLINE_MS;
      const call = this.#client.Handle(request, { deadline: Number.POSITIVE_INFINITY }, (error, response) => {
        clearTimeout(timer);
        if (error !== null) reject(error);
        else resolve(response ?? {});
      });
      const timer = setTimeout(() => {
        reject(
          Object.assign(new Error(`no answer within ${deadlineMs / 1000} s`), { code: grpcStatus.DEADLINE_EXCEEDED }),
        );
        call.cancel();
      }, deadlineMs);
    });
  }

  /** Undefined where it has none. Never rejects. */
  async #askHistory(): Promise<TimedHistory | undefined> {
    const { clock } = this.#options;
    const askedMs = clock.monotonicMs();
    const { dish_get_history } = await this.#ask({ get_history: {} }).catch(() => ({}) as RawResponse);
    const reading = this.#reader.history(dish_get_history);
    return reading && { ...reading, askedMs, answeredMs: clock.monotonicMs() };
  }

  /**
   * The seconds that have not been told yet. Only the history says which these are: answers come late, so that two
   * statuses may be of one second, or leave one out. The status alone is told of where there is no history.
   */
  #tell(ofStatus: TelemetrySecond, history: TimedHistory | undefined): void {
    const { clock, onSecond } = this.#options;
    const nowMs = clock.monotonicMs();
    const utcMs = clock.utcMs();
    if (history === undefined) {
      // A later answer has what this one lacks.
      if (this.#zeroMs !== undefined && ++this.#historyFailures < FAILURES_UNTIL_UNREACHABLE) return;
      this.#zeroMs = undefined;
      this.#toldMs = nowMs;
      onSecond(ofStatus);
      return;
    }
    this.#historyFailures = 0;
    const { current, oldest } = history;
    const isSameBoot = this.#followSeconds(history);
    const endMs = (number: number) => this.#zeroMs! + number * PERIOD_MS;
    const isNew = (number: number) =>
      isSameBoot ? number > this.#toldNumber : endMs(number) > this.#toldMs + PERIOD_MS / 2;
    let first = current + 1;
    while (first > oldest && isNew(first - 1)) first--;
    for (let number = first; number <= current; number++) {
      const ageMs = nowMs - endMs(number);
      this.#toldNumber = number;
      this.#toldMs = endMs(number);
      onSecond({
        atMs: Math.round(utcMs - ageMs),
        ...history.second(number),
        ...(number === current && { obstructed: ofStatus.obstructed }),
        ...(ageMs > LATE_MS && { fromHistory: true }),
      });
    }
  }

  /** Follows when the dish's seconds end. Whether it counts them from the same boot as before. */
  #followSeconds({ current, askedMs, answeredMs }: TimedHistory): boolean {
    // The newest one had ended when the answer came, the next one not yet when it was asked for.
    const latestMs = answeredMs - current * PERIOD_MS;
    const earliestMs = askedMs - (current + 1) * PERIOD_MS;
    const beforeMs = this.#zeroMs ?? Number.NaN;
    const offMs = Math.min(latestMs, Math.max(earliestMs, beforeMs)) - beforeMs;
    // A dish that does not count at the moment has not booted.
    const stands = this.#zeroMs !== undefined && current === this.#toldNumber;
    const isSameBoot = stands || (current > this.#toldNumber && Math.abs(offMs) <= SAME_BOOT_MS);
    const laterMs = stands ? offMs : Math.min(SLEW_MS, offMs);
    this.#zeroMs = isSameBoot ? beforeMs + Math.max(-SLEW_MS, laterMs) : latestMs;
    return isSameBoot;
  }

  #take(reading: StatusReading): void {
    const { clock, problems } = this.#options;
    if (reading.uptimeSeconds !== undefined) {
      const upSinceMs = clock.monotonicMs() - reading.uptimeSeconds * 1000;
      const isBoot = this.#upSinceMs !== undefined && upSinceMs > this.#upSinceMs + UPTIME_SLACK_SECONDS * 1000;
      if (isBoot) this.#bootedAtMs = upSinceMs;
      this.#upSinceMs = upSinceMs;
    }
    this.#reading = reading;
    this.#failures = 0;
    this.#retryAtMs = Number.NEGATIVE_INFINITY;
    this.#lastAnswerMs = clock.utcMs();
    problems.clear('dish', 'unreachable');
    const isBooting = clock.monotonicMs() - this.#bootedAtMs < BOOT_SECONDS * 1000;
    const { state, detail } = stateOf(reading, isBooting);
    if (state === 'online') this.#bootedAtMs = Number.NEGATIVE_INFINITY;
    this.#enter(state, detail);
  }

  async #askFurther(): Promise<void> {
    const { clock, onObstructionMap, onLocation } = this.#options;
    if (onObstructionMap !== undefined) {
      const { dish_get_obstruction_map } = await this.#ask({ dish_get_obstruction_map: {} }).catch(
        () => ({}) as RawResponse,
      );
      const map = this.#reader.obstructionMap(dish_get_obstruction_map);
      if (map !== undefined) onObstructionMap(map, clock.utcMs(), this.#reading?.attitude);
      if (map?.frame === 'terminal') await this.#learnAttitude();
    }
    if (onLocation === undefined || clock.monotonicMs() - this.#locationAtMs < LOCATION_PERIOD_MS) return;
    this.#locationAtMs = clock.monotonicMs();
    // Most dishes do not allow it until their owner does.
    const { get_location } = await this.#ask({ get_location: {} }).catch(() => ({}) as RawResponse);
    const location = this.#reader.location(get_location);
    if (location !== undefined) onLocation(location);
  }

  /** A dish that moves has a map of its own frame, of no use without its attitude. */
  async #learnAttitude(): Promise<void> {
    const { address, deadlineMs = DEADLINE_MS } = this.#options;
    const firmware = this.#reading?.software ?? '';
    if (this.#attitudeAskedOf === firmware) return;
    this.#attitudeAskedOf = firmware;
    this.#attitudeField = await learnAttitudeField(address, deadlineMs);
    const before = this.#client;
    const further = this.#attitudeField === undefined ? [] : [attitudeFields(this.#attitudeField)];
    this.#client = newDeviceClient(address, CHANNEL, ...further);
    before.close();
  }

  #fail(error: Error & { code?: number; details?: string }): void {
    const { clock, problems, address, random = Math.random } = this.#options;
    this.#failures++;
    if (this.#failures < FAILURES_UNTIL_UNREACHABLE) return;
    const doubled = PERIOD_MS * 2 ** Math.min(10, this.#failures - FAILURES_UNTIL_UNREACHABLE);
    const backoffMs = Math.min(LONGEST_BACKOFF_MS, doubled) * (0.8 + 0.4 * random());
    this.#retryAtMs = clock.monotonicMs() + backoffMs - PERIOD_MS / 2;
    const detail = reasonOf(error);
    problems.report('dish', 'unreachable', `${address}: ${detail}`);
    this.#enter('unreachable', detail);
  }

  #enter(state: DishStateName, detail: string | undefined): void {
    const isChange = state !== this.#state;
    if (isChange) {
      this.#state = state;
      this.#sinceMs = this.#options.clock.utcMs();
    }
    this.#detail = detail;
    if (isChange) this.#options.onStateChange();
  }
}

/** With when it was asked for and when it came, on the even clock. */
type TimedHistory = HistoryReading & { askedMs: number; answeredMs: number };

const ASLEEP: readonly (OutageCause | undefined)[] = ['SLEEPING', 'STOWED'];

function stateOf(reading: StatusReading, isBooting: boolean): { state: DishStateName; detail: string | undefined } {
  const { outage, second } = reading;
  const detail = outage?.toLowerCase().replaceAll('_', ' ');
  const isDead = outage !== undefined || (second.dropRate ?? 0) >= OUTAGE_DROP_RATE;
  if (outage === 'BOOTING' || (isBooting && isDead)) return { state: 'rebooting', detail };
  if (ASLEEP.includes(outage)) return { state: 'asleep', detail };
  if (second.obstructed === true) return { state: 'obstructed', detail };
  return isDead ? { state: 'outage', detail: detail ?? 'no pings come back' } : { state: 'online', detail: undefined };
}

/** Why an answer did not come, for a person. */
function reasonOf({ code, details, message }: Error & { code?: number; details?: string }): string {
  const text = (details ?? message).replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
  if (code === grpcStatus.UNAVAILABLE) return `nobody answers there (${text})`;
  if (code === grpcStatus.UNIMPLEMENTED) return `what answers there is no dish (${text})`;
  if (code === grpcStatus.INTERNAL) return `its answer cannot be read (${text})`;
  return text;
}

function defined<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}
