/**
 * A dish for development and tests: a gRPC server with the API `SpaceX.API.Device.Device` and reflection. It shows the
 * telemetry of a script and can be made to misbehave.
 */

import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type StatusObject,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import type { Clock } from '../clock.ts';
import {
  devicePackage,
  deviceService,
  type OutageCause,
  type RawOutage,
  type RawRequest,
  type RawResponse,
} from '../dish/device-api.ts';
import { type Attitude, type MapGeometry, pixelOf } from '../dish/obstruction-map.ts';
import type { LocationReading } from '../dish/read-answers.ts';
import { ATTITUDE_FIELDS, FURTHER_FIELDS } from './further-fields.ts';
import type { DishScript, SimulatedSecond } from './simulated-dish.ts';

export interface FakeDishOptions {
  script: DishScript;
  clock: Clock;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Default: it refuses requests for its location. */
  location?: LocationReading | undefined;
  /** Makes its map relative to the dish (frame "terminal"). Default: frame "earth". */
  attitude?: Attitude | undefined;
  /** Length of its history. Default: 900. */
  historySeconds?: number;
}

/** Faults of a dish; any may be combined. */
export interface Misbehaviour {
  delayMs?: number;
  /** Answers are cut to this share of their bytes, 0 to 1. */
  cutTo?: number;
  /** Random bytes of the answer are changed. Uniform in [0, 1). */
  garble?: () => number;
  /** Replaces the answer. */
  change?: (response: RawResponse) => unknown;
  /** Requests fail with this gRPC status. */
  failWith?: number;
  /** Cause of the outage that it reports. */
  outage?: OutageCause;
}

export interface FakeDish {
  /** `host:port`. */
  address: string;
  /** Holds until the next call; `{}` ends all faults. */
  misbehave(how: Misbehaviour): void;
  /** Resets uptime, history and map. */
  reboot(): void;
  /** Closes open connections too. */
  close(): void;
}

const HISTORY_SECONDS = 900;
const MAP_SIZE = 123;
const MAX_THETA_DEGREES = 80;
const MIN_ELEVATION_DEGREES = 10;
const API_VERSION = 35;
const UPTIME_AT_START_SECONDS = 3600;
/** Timestamps of outages are GPS time: since 1980-01-06, ahead of UTC by 18 leap seconds (since 2017). */
const GPS_EPOCH_MS = Date.UTC(1980, 0, 6) - 18_000;
/** Value of map pixels without data. */
const UNUSED = -1;

/** Rejects if it cannot listen. */
export async function startFakeDish(options: FakeDishOptions): Promise<FakeDish> {
  const { host = '127.0.0.1', port = 0, attitude } = options;
  const dish = new ScriptedDish(options);
  const server = new Server();
  const definitions = devicePackage(FURTHER_FIELDS, ...(attitude === undefined ? [] : [ATTITUDE_FIELDS]));
  let misbehaviour: Misbehaviour = {};
  server.addService(
    spoiled(deviceService(definitions), () => misbehaviour),
    {
      Handle(call: ServerUnaryCall<RawRequest, RawResponse>, done: sendUnaryData<RawResponse>) {
        const { delayMs = 0, failWith, change } = misbehaviour;
        const answer = () => {
          if (failWith !== undefined) {
            done({ code: failWith, details: 'requested failure' });
            return;
          }
          const response = dish.answer(call.request);
          if ('code' in response) done(response);
          else done(null, change === undefined ? response : (change(response) as RawResponse));
        };
        if (delayMs > 0) setTimeout(answer, delayMs);
        else answer();
      },
    },
  );
  new ReflectionService(definitions).addToServer(server);
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, at) => {
      if (error === null) resolve(at);
      else reject(error);
    });
  });
  return {
    address: `${host}:${bound}`,
    misbehave(how) {
      misbehaviour = how;
      dish.setOutage(how.outage);
    },
    reboot: () => dish.reboot(),
    close: () => server.forceShutdown(),
  };
}

/** The service definition with answers that `misbehaviour` may cut or garble. */
function spoiled(definition: ServiceDefinition, misbehaviour: () => Misbehaviour): ServiceDefinition {
  const { Handle } = definition;
  const responseSerialize = (response: RawResponse): Buffer => {
    const { cutTo = 1, garble } = misbehaviour();
    const whole = Buffer.from(Handle!.responseSerialize(response) as Buffer);
    if (garble !== undefined) {
      for (let i = 0; i < whole.length; i++) if (garble() < 0.05) whole[i] = Math.floor(garble() * 256);
    }
    return whole.subarray(0, Math.floor(whole.length * cutTo));
  };
  return { ...definition, Handle: { ...Handle!, responseSerialize } };
}

type Refusal = Pick<StatusObject, 'code' | 'details'>;

class ScriptedDish {
  readonly #options: FakeDishOptions & { historySeconds: number };
  readonly #geometry: MapGeometry;
  /** UTC minus monotonic time when it started: the dish's own clock does not follow steps of the machine's. */
  readonly #utcOffsetMs: number;
  #bootMs: number;
  /** Requested changes of the outage, newest first. */
  readonly #outages: { fromMs: number; cause: OutageCause | undefined }[] = [];
  readonly #snr = new Float32Array(MAP_SIZE * MAP_SIZE).fill(UNUSED);
  #mapFromMs: number;
  #paintedMs: number;

  constructor(options: FakeDishOptions) {
    this.#options = { historySeconds: HISTORY_SECONDS, ...options };
    const { clock, attitude } = options;
    const frame = attitude === undefined ? 'earth' : 'terminal';
    this.#geometry = { rows: MAP_SIZE, columns: MAP_SIZE, maxThetaDegrees: MAX_THETA_DEGREES, frame };
    this.#utcOffsetMs = clock.utcMs() - clock.monotonicMs();
    this.#bootMs = this.#nowMs() - UPTIME_AT_START_SECONDS * 1000;
    this.#mapFromMs = this.#thisSecondMs();
    this.#paintedMs = this.#mapFromMs;
  }

  reboot(): void {
    this.#bootMs = this.#nowMs();
    this.#snr.fill(UNUSED);
    this.#mapFromMs = this.#thisSecondMs();
  }

  setOutage(cause: OutageCause | undefined): void {
    if (cause !== this.#outages[0]?.cause) this.#outages.unshift({ fromMs: this.#thisSecondMs(), cause });
  }

  answer(request: RawRequest): RawResponse | Refusal {
    const head = { ...(request.id !== undefined && { id: request.id }), api_version: API_VERSION, status: {} };
    if (request.get_status !== undefined) return { ...head, dish_get_status: withoutZeros(this.#status()) };
    if (request.get_history !== undefined) return { ...head, dish_get_history: withoutZeros(this.#history()) };
    if (request.dish_get_obstruction_map !== undefined) return { ...head, dish_get_obstruction_map: this.#map() };
    if (request.get_location === undefined) return { code: status.UNIMPLEMENTED, details: 'unimplemented' };
    const { location } = this.#options;
    if (location === undefined) return { code: status.PERMISSION_DENIED, details: 'not allowed' };
    const { latitudeDegrees: lat, longitudeDegrees: lon, altitudeMetres: alt } = location;
    return { ...head, get_location: withoutZeros({ lla: { lat, lon, alt }, sigma_m: 5 }) };
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs() + this.#utcOffsetMs;
  }

  #thisSecondMs(): number {
    return Math.floor(this.#nowMs() / 1000) * 1000;
  }

  #at(atMs: number): SimulatedSecond {
    const second = this.#options.script.at(atMs);
    const outage = this.#outages.find(({ fromMs }) => fromMs <= atMs)?.cause;
    return outage === undefined ? second : { ...second, ...DEAD_SECOND, obstructed: outage === 'OBSTRUCTED', outage };
  }

  /** The history, newest first. */
  #seconds(): SimulatedSecond[] {
    const newestMs = this.#thisSecondMs();
    const count = Math.floor((newestMs - this.#bootMs) / 1000);
    const length = Math.max(0, Math.min(this.#options.historySeconds, count));
    return Array.from({ length }, (_, back) => this.#at(newestMs - back * 1000));
  }

  #status() {
    const { attitude } = this.#options;
    const atMs = this.#thisSecondMs();
    const { dropRate, latencyMs, downlinkUsageBps, uplinkUsageBps, obstructed, outage: cause } = this.#at(atMs);
    const seconds = this.#seconds();
    return {
      device_info: { id: 'ut-fake', hardware_version: 'fake1_proto1', software_version: '2026.06.fake' },
      device_state: { uptime_s: Math.floor((this.#nowMs() - this.#bootMs) / 1000) },
      pop_ping_drop_rate: dropRate,
      pop_ping_latency_ms: latencyMs ?? 0,
      downlink_throughput_bps: downlinkUsageBps,
      uplink_throughput_bps: uplinkUsageBps,
      obstruction_stats: { ...this.#obstructionStats(seconds), currently_obstructed: obstructed },
      alerts: { is_power_save_idle: cause === 'SLEEPING', thermal_shutdown: cause === 'THERMAL_SHUTDOWN' },
      gps_stats: { gps_valid: true, gps_sats: 10 + (Math.floor(atMs / 60_000) % 6) },
      boresight_azimuth_deg: 3,
      boresight_elevation_deg: 66,
      is_snr_above_noise_floor: cause === undefined,
      ...(attitude !== undefined && attitudeOf(attitude)),
      ...(cause !== undefined && { outage: outagesIn(seconds).at(-1) ?? outageOf(cause, [atMs]) }),
    };
  }

  #obstructionStats(seconds: readonly SimulatedSecond[]) {
    this.#paintUntilNow();
    const clear = this.#snr.filter((value) => value === 1).length;
    const blocked = this.#snr.filter((value) => value === 0).length;
    const outages = outagesIn(seconds).filter(({ cause }) => cause === 'OBSTRUCTED');
    const blockedSeconds = outages.reduce((sum, { duration_ns }) => sum + duration_ns / 1e9, 0);
    const between = (outages.at(-1)?.start_timestamp_ns ?? 0) - (outages[0]?.start_timestamp_ns ?? 0);
    return {
      fraction_obstructed: blocked / Math.max(1, clear + blocked),
      valid_s: (this.#thisSecondMs() - this.#mapFromMs) / 1000,
      patches_valid: clear + blocked,
      time_obstructed: blockedSeconds / Math.max(1, seconds.length),
      avg_prolonged_obstruction_duration_s: blockedSeconds / Math.max(1, outages.length),
      avg_prolonged_obstruction_interval_s: outages.length < 2 ? Number.NaN : between / 1e9 / (outages.length - 1),
      avg_prolonged_obstruction_valid: outages.length > 0,
    };
  }

  #history() {
    const current = Math.max(0, Math.floor((this.#thisSecondMs() - this.#bootMs) / 1000));
    const { historySeconds } = this.#options;
    const column = () => new Array<number>(historySeconds).fill(0);
    const history = {
      current,
      pop_ping_drop_rate: column(),
      pop_ping_latency_ms: column(),
      downlink_throughput_bps: column(),
      uplink_throughput_bps: column(),
      power_in: column(),
    };
    const seconds = this.#seconds();
    seconds.forEach(({ dropRate, latencyMs = 0, downlinkUsageBps, uplinkUsageBps }, back) => {
      const at = (current - 1 - back) % historySeconds;
      history.pop_ping_drop_rate[at] = dropRate;
      history.pop_ping_latency_ms[at] = latencyMs;
      history.downlink_throughput_bps[at] = downlinkUsageBps;
      history.uplink_throughput_bps[at] = uplinkUsageBps;
      // In watts, as a flat dish draws: idle plus a part that grows with the traffic.
      history.power_in[at] = 45 + 30 * Math.min(1, (downlinkUsageBps + 4 * uplinkUsageBps) / 6e8);
    });
    return { ...history, outages: outagesIn(seconds) };
  }

  #map(): RawResponse['dish_get_obstruction_map'] & object {
    this.#paintUntilNow();
    return {
      num_rows: MAP_SIZE,
      num_cols: MAP_SIZE,
      snr: [...this.#snr],
      min_elevation_deg: MIN_ELEVATION_DEGREES,
      max_theta_deg: MAX_THETA_DEGREES,
      map_reference_frame: this.#geometry.frame === 'earth' ? 'FRAME_EARTH' : 'FRAME_UT',
    };
  }

  #paintUntilNow(): void {
    const nowMs = this.#thisSecondMs();
    // Bounds the work after a long pause.
    this.#paintedMs = Math.max(this.#paintedMs, nowMs - HISTORY_SECONDS * 1000);
    for (; this.#paintedMs < nowMs; this.#paintedMs += 1000) this.#paint(this.#paintedMs + 1000);
  }

  #paint(atMs: number): void {
    const { script, attitude } = this.#options;
    const direction = script.satellite(atMs);
    const pixel = direction && pixelOf(this.#geometry, direction, attitude);
    if (pixel === undefined) return;
    const at = Math.round(pixel.row) * MAP_SIZE + Math.round(pixel.column);
    this.#snr[at] = this.#at(atMs).obstructed ? 0 : 1;
  }
}

const DEAD_SECOND = { latencyMs: undefined, dropRate: 1, downlinkUsageBps: 0, uplinkUsageBps: 0 };

/** Merges consecutive seconds of one cause; oldest outage first. `seconds`: newest first. */
function outagesIn(seconds: readonly SimulatedSecond[]): Outage[] {
  const runs: { cause: OutageCause; secondsMs: number[] }[] = [];
  for (const { atMs, outage } of [...seconds].reverse()) {
    const last = runs.at(-1);
    if (outage === undefined) continue;
    const goesOn = last !== undefined && last.cause === outage && last.secondsMs.at(-1) === atMs - 1000;
    if (goesOn) last.secondsMs.push(atMs);
    else runs.push({ cause: outage, secondsMs: [atMs] });
  }
  return runs.map(({ cause, secondsMs }) => outageOf(cause, secondsMs));
}

type Outage = Required<RawOutage>;

function outageOf(cause: OutageCause, secondsMs: readonly number[]): Outage {
  const start_timestamp_ns = (secondsMs[0]! - 1000 - GPS_EPOCH_MS) * 1e6;
  return { cause, start_timestamp_ns, duration_ns: secondsMs.length * 1e9, did_switch: false };
}

function attitudeOf([q_scalar, q_x, q_y, q_z]: Attitude): object {
  return { ned2dish_quaternion: { q_scalar, q_x, q_y, q_z } };
}

/** Protocol buffers omit fields with their default value, but not array items. */
function withoutZeros<Message extends object>(fields: Message): Partial<Message> {
  const entries = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (value === 0 || value === false) return [];
    return [[name, typeof value === 'object' && !Array.isArray(value) ? withoutZeros(value) : value]];
  });
  return Object.fromEntries(entries) as Partial<Message>;
}
