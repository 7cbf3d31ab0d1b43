/**
 * A dish for tests, which make it misbehave: a gRPC server with the API `SpaceX.API.Device.Device` and reflection,
 * with scripted telemetry.
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
  type FurtherFields,
  type OutageCause,
  type RawRequest,
  type RawResponse,
} from '../dish/device-api.ts';
import { pixelOf } from '../dish/obstruction-map.fixture.ts';
import type { Attitude, MapGeometry } from '../dish/obstruction-map.ts';
import type { LocationReading } from '../dish/read-answers.ts';
import type { DishScript, SimulatedSecond } from './simulated-dish.ts';

export interface FakeDishOptions {
  script: DishScript;
  clock: Clock;
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

/** The attitude. The number is made up, because the number in real firmware is not published. */
export const ATTITUDE_FIELDS: FurtherFields = {
  DishGetStatusResponse: { ned2dish_quaternion: [1999, 'Quaternion'] },
  Quaternion: { q_scalar: [1, 'float'], q_x: [2, 'float'], q_y: [3, 'float'], q_z: [4, 'float'] },
};
const DEAD_SECOND = { latencyMs: undefined, dropRate: 1, downlinkUsageBps: 0, uplinkUsageBps: 0 };

export async function startFakeDish(options: FakeDishOptions): Promise<FakeDish> {
  let misbehaviour: Misbehaviour = {};
  /** Requested changes of the outage, newest first. */
  const outages: { fromMs: number; cause: OutageCause | undefined }[] = [];
  const { at } = options.script;
  const dish = new ScriptedDish({
    ...options,
    script: {
      ...options.script,
      at(atMs) {
        const outage = outages.find(({ fromMs }) => fromMs <= atMs)?.cause;
        const second = at(atMs);
        return outage === undefined
          ? second
          : { ...second, ...DEAD_SECOND, obstructed: outage === 'OBSTRUCTED', outage };
      },
    },
  });
  const definitions = devicePackage(...(options.attitude === undefined ? [] : [ATTITUDE_FIELDS]));
  const server = new Server();
  server.addService(
    spoiled(deviceService(definitions), () => misbehaviour),
    {
      Handle({ request }: ServerUnaryCall<RawRequest, RawResponse>, done: sendUnaryData<RawResponse>) {
        const { delayMs = 0, failWith, change } = misbehaviour;
        const answer = () => {
          if (failWith !== undefined) {
            done({ code: failWith, details: 'requested failure' });
            return;
          }
          const response = dish.answer(request);
          if ('code' in response) done(response);
          else done(null, change === undefined ? response : (change(response) as RawResponse));
        };
        if (delayMs > 0) setTimeout(answer, delayMs);
        else answer();
      },
    },
  );
  new ReflectionService(definitions).addToServer(server);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, at) => {
      if (error === null) resolve(at);
      else reject(error);
    });
  });
  return {
    address: `127.0.0.1:${port}`,
    misbehave(how) {
      misbehaviour = how;
      if (how.outage !== outages[0]?.cause) outages.unshift({ fromMs: dish.thisSecondMs(), cause: how.outage });
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
    this.#mapFromMs = this.thisSecondMs();
    this.#paintedMs = this.#mapFromMs;
  }

  /** Resets uptime, history and map. */
  reboot(): void {
    this.#bootMs = this.#nowMs();
    this.#snr.fill(UNUSED);
    this.#mapFromMs = this.thisSecondMs();
  }

  /** UTC by the dish's clock. */
  thisSecondMs(): number {
    return Math.floor(this.#nowMs() / 1000) * 1000;
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

  /** The history, newest first. */
  #seconds(): SimulatedSecond[] {
    const newestMs = this.thisSecondMs();
    const count = Math.floor((newestMs - this.#bootMs) / 1000);
    const length = Math.max(0, Math.min(this.#options.historySeconds, count));
    return Array.from({ length }, (_, back) => this.#options.script.at(newestMs - back * 1000));
  }

  #status() {
    const { attitude, script } = this.#options;
    this.#paintUntilNow();
    const atMs = this.thisSecondMs();
    const { dropRate, latencyMs, downlinkUsageBps, uplinkUsageBps, obstructed, outage: cause } = script.at(atMs);
    const clear = this.#snr.filter((value) => value === 1).length;
    const blocked = this.#snr.filter((value) => value === 0).length;
    const obstruction = {
      fraction_obstructed: blocked / Math.max(1, clear + blocked),
      valid_s: (atMs - this.#mapFromMs) / 1000,
      patches_valid: clear + blocked,
      currently_obstructed: obstructed,
    };
    return {
      device_info: { id: 'ut-fake', hardware_version: 'fake1_proto1', software_version: '2026.06.fake' },
      device_state: { uptime_s: Math.floor((this.#nowMs() - this.#bootMs) / 1000) },
      pop_ping_drop_rate: dropRate,
      pop_ping_latency_ms: latencyMs ?? 0,
      downlink_throughput_bps: downlinkUsageBps,
      uplink_throughput_bps: uplinkUsageBps,
      obstruction_stats: obstruction,
      alerts: { is_power_save_idle: cause === 'SLEEPING', thermal_shutdown: cause === 'THERMAL_SHUTDOWN' },
      gps_stats: { gps_valid: true, gps_sats: 10 + (Math.floor(atMs / 60_000) % 6) },
      boresight_azimuth_deg: 3,
      boresight_elevation_deg: 66,
      is_snr_above_noise_floor: cause === undefined,
      ...(attitude !== undefined && attitudeOf(attitude)),
      ...(cause !== undefined && { outage: outagesIn(this.#seconds()).at(-1) ?? outageOf(cause, [atMs]) }),
    };
  }

  #history() {
    const current = Math.max(0, Math.floor((this.thisSecondMs() - this.#bootMs) / 1000));
    const { historySeconds } = this.#options;
    const seconds = this.#seconds();
    const column = (value: (second: SimulatedSecond) => number) => {
      const values = new Array<number>(historySeconds).fill(0);
      seconds.forEach((second, back) => {
        values[(current - 1 - back) % historySeconds] = value(second);
      });
      return values;
    };
    return {
      current,
      pop_ping_drop_rate: column(({ dropRate }) => dropRate),
      pop_ping_latency_ms: column(({ latencyMs = 0 }) => latencyMs),
      downlink_throughput_bps: column(({ downlinkUsageBps }) => downlinkUsageBps),
      uplink_throughput_bps: column(({ uplinkUsageBps }) => uplinkUsageBps),
      // In watts.
      power_in: column(() => 60),
      outages: outagesIn(seconds),
    };
  }

  #map() {
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
    const nowMs = this.thisSecondMs();
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
    this.#snr[at] = script.at(atMs).obstructed ? 0 : 1;
  }
}

/** Merges consecutive seconds of one cause; oldest outage first. `seconds`: newest first. */
function outagesIn(seconds: readonly SimulatedSecond[]) {
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

function outageOf(cause: OutageCause, secondsMs: readonly number[]) {
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
