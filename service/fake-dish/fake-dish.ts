/**
 * A dish to develop and test against: a gRPC server that speaks `SpaceX.API.Device.Device` with reflection and shows what
 * a script says. It can be told to misbehave.
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
  type AttitudeField,
  attitudeFields,
  devicePackage,
  deviceService,
  type OutageCause,
  type RawObstructionMap,
  type RawOutage,
  type RawRequest,
  type RawResponse,
} from '../dish/device-api.ts';
import { type Attitude, type MapGeometry, pixelOf } from '../dish/obstruction-map.ts';
import { FURTHER_FIELDS } from './further-fields.ts';
import type { DishScript, SimulatedSecond } from './simulated-dish.ts';

export interface FakeDishOptions {
  script: DishScript;
  clock: Clock;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Default 0: any free one. */
  port?: number;
  /** What it says of where it is; undefined: it does not allow to be asked. */
  location?: { latitudeDegrees: number; longitudeDegrees: number; altitudeMetres: number } | undefined;
  /** A dish that leans like this, whose map is of its own frame. Default: one whose map is of the earth's. */
  attitude?: Attitude | undefined;
  /** How many seconds its history holds. Default: 900. */
  historySeconds?: number;
}

/** What a dish may be told to do wrong, all at once if need be. */
export interface Misbehaviour {
  /** Answers come so much later. */
  delayMs?: number;
  /** Answers are cut to this part of their bytes, 0 to 1. */
  cutTo?: number;
  /** Bytes of the answer are changed, drawn with this. Uniform in [0, 1). */
  garble?: () => number;
  /** Answers are handed over changed. */
  change?: (response: RawResponse) => unknown;
  /** Requests fail with this gRPC status. */
  failWith?: number;
  /** The state that it says it is in. */
  outage?: OutageCause;
}

export interface FakeDish {
  /** `host:port`. */
  address: string;
  /** Until told otherwise; `{}` for a dish in order. */
  misbehave(how: Misbehaviour): void;
  /** Counts its uptime from now on, and forgets its history and map. */
  reboot(): void;
  /** Breaks connections off. */
  close(): void;
}

const HISTORY_SECONDS = 900;
const MAP_SIZE = 123;
const MAX_THETA_DEGREES = 80;
/** In this dish's firmware; real ones have it elsewhere. */
const ATTITUDE_FIELD: AttitudeField = {
  number: 1999,
  name: 'ned2dish_quaternion',
  type: 'float',
  parts: {
    w: { number: 1, name: 'q_scalar' },
    x: { number: 2, name: 'q_x' },
    y: { number: 3, name: 'q_y' },
    z: { number: 4, name: 'q_z' },
  },
};
const MIN_ELEVATION_DEGREES = 10;
const API_VERSION = 35;
/** It has been running for an hour when it is made. */
const UPTIME_AT_START_SECONDS = 3600;
/** GPS time runs ahead of UTC since 1980-01-06 by this much less its leap seconds (18 since 2017). */
const GPS_EPOCH_MS = Date.UTC(1980, 0, 6) - 18_000;
/** Of pixels that no satellite has been seen in. */
const UNUSED = -1;

/** Rejects where it cannot listen. */
export async function startFakeDish(options: FakeDishOptions): Promise<FakeDish> {
  const { host = '127.0.0.1', port = 0, attitude } = options;
  const dish = new ScriptedDish(options);
  const server = new Server();
  const definitions = devicePackage(
    FURTHER_FIELDS,
    ...(attitude === undefined ? [] : [attitudeFields(ATTITUDE_FIELD)]),
  );
  let misbehaviour: Misbehaviour = {};
  server.addService(
    spoiled(deviceService(definitions), () => misbehaviour),
    {
      Handle(call: ServerUnaryCall<RawRequest, RawResponse>, done: sendUnaryData<RawResponse>) {
        const { delayMs = 0, failWith, change } = misbehaviour;
        const answer = () => {
          if (failWith !== undefined) {
            done({ code: failWith, details: 'told to fail' });
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
      dish.tell(how.outage);
    },
    reboot: () => dish.reboot(),
    close: () => server.forceShutdown(),
  };
}

/** The service with answers whose bytes can be spoiled on their way out. */
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

/** What the dish answers; a zero is not sent, as protocol buffers have it. */
class ScriptedDish {
  readonly #script: DishScript;
  readonly #clock: Clock;
  readonly #location: FakeDishOptions['location'];
  readonly #attitude: Attitude | undefined;
  readonly #geometry: MapGeometry;
  readonly #historySeconds: number;
  /** UTC of the dish's own clock, which does not leap with the machine's, less the even clock. */
  readonly #utcLessEvenMs: number;
  #bootMs: number;
  /** Outages that it was told to have, or to end, each from a moment on; newest first. */
  readonly #told: { fromMs: number; cause: OutageCause | undefined }[] = [];
  readonly #snr = new Float32Array(MAP_SIZE * MAP_SIZE).fill(UNUSED);
  #mapFromMs: number;
  #paintedMs: number;

  constructor({ script, clock, location, attitude, historySeconds = HISTORY_SECONDS }: FakeDishOptions) {
    this.#script = script;
    this.#clock = clock;
    this.#location = location;
    this.#attitude = attitude;
    this.#historySeconds = historySeconds;
    const frame = attitude === undefined ? 'earth' : 'terminal';
    this.#geometry = { rows: MAP_SIZE, columns: MAP_SIZE, maxThetaDegrees: MAX_THETA_DEGREES, frame };
    this.#utcLessEvenMs = clock.utcMs() - clock.monotonicMs();
    this.#bootMs = this.#nowMs() - UPTIME_AT_START_SECONDS * 1000;
    this.#mapFromMs = this.#thisSecondMs();
    this.#paintedMs = this.#mapFromMs;
  }

  reboot(): void {
    this.#bootMs = this.#nowMs();
    this.#snr.fill(UNUSED);
    this.#mapFromMs = this.#thisSecondMs();
  }

  tell(cause: OutageCause | undefined): void {
    if (cause !== this.#told[0]?.cause) this.#told.unshift({ fromMs: this.#thisSecondMs(), cause });
  }

  answer(request: RawRequest): RawResponse | Refusal {
    const head = { ...(request.id !== undefined && { id: request.id }), api_version: API_VERSION, status: {} };
    if (request.get_status !== undefined) return { ...head, dish_get_status: withoutZeros(this.#status()) };
    if (request.get_history !== undefined) return { ...head, dish_get_history: withoutZeros(this.#history()) };
    if (request.dish_get_obstruction_map !== undefined) return { ...head, dish_get_obstruction_map: this.#map() };
    if (request.get_location === undefined) return { code: status.UNIMPLEMENTED, details: 'unimplemented' };
    if (this.#location === undefined) return { code: status.PERMISSION_DENIED, details: 'not allowed' };
    const { latitudeDegrees: lat, longitudeDegrees: lon, altitudeMetres: alt } = this.#location;
    return { ...head, get_location: withoutZeros({ lla: { lat, lon, alt }, sigma_m: 5 }) };
  }

  #nowMs(): number {
    return this.#clock.monotonicMs() + this.#utcLessEvenMs;
  }

  #thisSecondMs(): number {
    return Math.floor(this.#nowMs() / 1000) * 1000;
  }

  #at(atMs: number): SimulatedSecond {
    const second = this.#script.at(atMs);
    const outage = this.#told.find(({ fromMs }) => fromMs <= atMs)?.cause;
    return outage === undefined ? second : { ...second, ...DEAD_SECOND, obstructed: outage === 'OBSTRUCTED', outage };
  }

  /** The seconds of its history, newest first. */
  #seconds(): SimulatedSecond[] {
    const newestMs = this.#thisSecondMs();
    const count = Math.floor((newestMs - this.#bootMs) / 1000);
    const length = Math.max(0, Math.min(this.#historySeconds, count));
    return Array.from({ length }, (_, back) => this.#at(newestMs - back * 1000));
  }

  #status() {
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
      ...(this.#attitude !== undefined && attitudeOf(this.#attitude)),
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
    const column = () => new Array<number>(this.#historySeconds).fill(0);
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
      const at = (current - 1 - back) % this.#historySeconds;
      history.pop_ping_drop_rate[at] = dropRate;
      history.pop_ping_latency_ms[at] = latencyMs;
      history.downlink_throughput_bps[at] = downlinkUsageBps;
      history.uplink_throughput_bps[at] = uplinkUsageBps;
      // What a flat dish takes: more, the more it sends and receives.
      history.power_in[at] = 45 + 30 * Math.min(1, (downlinkUsageBps + 4 * uplinkUsageBps) / 6e8);
    });
    return { ...history, outages: outagesIn(seconds) };
  }

  #map(): RawObstructionMap {
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
    // No further back than there is anything to see of it.
    this.#paintedMs = Math.max(this.#paintedMs, nowMs - HISTORY_SECONDS * 1000);
    for (; this.#paintedMs < nowMs; this.#paintedMs += 1000) this.#paint(this.#paintedMs + 1000);
  }

  #paint(atMs: number): void {
    const direction = this.#script.satellite(atMs);
    const pixel = direction && pixelOf(this.#geometry, direction, this.#attitude);
    if (pixel === undefined) return;
    const at = Math.round(pixel.row) * MAP_SIZE + Math.round(pixel.column);
    this.#snr[at] = this.#at(atMs).obstructed ? 0 : 1;
  }
}

const DEAD_SECOND = { latencyMs: undefined, dropRate: 1, downlinkUsageBps: 0, uplinkUsageBps: 0 };

/** Seconds in a row with one cause, oldest first. `seconds`: newest first. */
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

function attitudeOf([w, x, y, z]: Attitude): object {
  const { name, parts } = ATTITUDE_FIELD;
  return { [name]: { [parts.w.name]: w, [parts.x.name]: x, [parts.y.name]: y, [parts.z.name]: z } };
}

/** Fields of messages that have their default are not sent; numbers in arrays are. */
function withoutZeros<Message extends object>(fields: Message): Partial<Message> {
  const entries = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (value === 0 || value === false) return [];
    return [[name, typeof value === 'object' && !Array.isArray(value) ? withoutZeros(value) : value]];
  });
  return Object.fromEntries(entries) as Partial<Message>;
}
