/**
 * A dish to develop and test against: a gRPC server that speaks `SpaceX.API.Device.Device` with reflection and shows what
 * a script says. It can be told to misbehave.
 */

import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import {
  type AttitudeField,
  devicePackage,
  deviceService,
  type OutageCause,
  type RawHistory,
  type RawObstructionMap,
  type RawRequest,
  type RawResponse,
  type RawStatus,
} from '../dish/device-api.ts';
import { type Attitude, type MapGeometry, pixelOf } from '../dish/obstruction-map.ts';
import { addReflection } from './reflection.ts';
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
  const definitions = devicePackage(attitude && ATTITUDE_FIELD);
  let misbehaviour: Misbehaviour = {};
  server.addService(
    spoiled(deviceService(definitions), () => misbehaviour),
    {
      Handle(call: ServerUnaryCall<RawRequest, RawResponse>, done: sendUnaryData<RawResponse>) {
        const { delayMs = 0, failWith, change, outage } = misbehaviour;
        const answer = () => {
          if (failWith !== undefined) {
            done({ code: failWith, details: 'told to fail' });
            return;
          }
          const response = dish.answer(call.request, outage);
          if (response === undefined) done({ code: status.PERMISSION_DENIED, details: 'not allowed' });
          else done(null, change === undefined ? response : (change(response) as RawResponse));
        };
        if (delayMs > 0) setTimeout(answer, delayMs);
        else answer();
      },
    },
  );
  addReflection(server, definitions);
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

/** What the dish answers; a zero is not sent, as protocol buffers have it. */
class ScriptedDish {
  readonly #script: DishScript;
  readonly #clock: Clock;
  readonly #location: FakeDishOptions['location'];
  readonly #attitude: Attitude | undefined;
  readonly #geometry: MapGeometry;
  #bootMs: number;
  readonly #snr = new Float32Array(MAP_SIZE * MAP_SIZE).fill(UNUSED);
  #paintedMs: number;

  constructor({ script, clock, location, attitude }: FakeDishOptions) {
    this.#script = script;
    this.#clock = clock;
    this.#location = location;
    this.#attitude = attitude;
    const frame = attitude === undefined ? 'earth' : 'terminal';
    this.#geometry = { rows: MAP_SIZE, columns: MAP_SIZE, maxThetaDegrees: MAX_THETA_DEGREES, frame };
    this.#bootMs = clock.utcMs() - UPTIME_AT_START_SECONDS * 1000;
    this.#paintedMs = this.#thisSecondMs();
  }

  reboot(): void {
    this.#bootMs = this.#clock.utcMs();
    this.#snr.fill(UNUSED);
  }

  /** Undefined for what it does not allow. */
  answer(request: RawRequest, outage: OutageCause | undefined): RawResponse | undefined {
    const head = { ...(request.id !== undefined && { id: request.id }), api_version: API_VERSION, status: {} };
    if (request.get_history !== undefined) return { ...head, dish_get_history: this.#history() };
    if (request.dish_get_obstruction_map !== undefined) return { ...head, dish_get_obstruction_map: this.#map() };
    if (request.get_location !== undefined) {
      if (this.#location === undefined) return undefined;
      const { latitudeDegrees: lat, longitudeDegrees: lon, altitudeMetres: alt } = this.#location;
      return { ...head, get_location: { lla: { lat, lon, alt }, sigma_m: 5 } };
    }
    return { ...head, dish_get_status: this.#status(outage) };
  }

  #thisSecondMs(): number {
    return Math.floor(this.#clock.utcMs() / 1000) * 1000;
  }

  #status(told: OutageCause | undefined): RawStatus {
    const atMs = this.#thisSecondMs();
    const second = this.#script.at(atMs);
    const cause = told ?? second.outage;
    const seen: SimulatedSecond = told === undefined ? second : { ...second, ...DEAD_SECOND };
    return {
      device_info: { id: 'ut-fake', hardware_version: 'fake1_proto1', software_version: '2026.06.fake' },
      device_state: { uptime_s: Math.floor((this.#clock.utcMs() - this.#bootMs) / 1000) },
      ...withoutZeros({
        pop_ping_drop_rate: seen.dropRate,
        pop_ping_latency_ms: seen.latencyMs,
        downlink_throughput_bps: seen.downlinkUsageBps,
        uplink_throughput_bps: seen.uplinkUsageBps,
      }),
      obstruction_stats: {
        fraction_obstructed: 0.003,
        valid_s: 3600,
        patches_valid: 4000,
        ...(seen.obstructed && { currently_obstructed: true }),
      },
      boresight_azimuth_deg: 3,
      boresight_elevation_deg: 66,
      is_snr_above_noise_floor: cause === undefined,
      ...(this.#attitude !== undefined && attitudeFields(this.#attitude)),
      ...(cause !== undefined && {
        outage: { cause, start_timestamp_ns: (atMs - 1000 - GPS_EPOCH_MS) * 1e6, duration_ns: 1e9, did_switch: false },
      }),
    };
  }

  #history(): RawHistory {
    const newestMs = this.#thisSecondMs();
    const current = Math.max(0, Math.floor((newestMs - this.#bootMs) / 1000));
    const history: Required<Omit<RawHistory, 'current' | 'outages'>> = {
      pop_ping_drop_rate: new Array<number>(HISTORY_SECONDS).fill(0),
      pop_ping_latency_ms: new Array<number>(HISTORY_SECONDS).fill(0),
      downlink_throughput_bps: new Array<number>(HISTORY_SECONDS).fill(0),
      uplink_throughput_bps: new Array<number>(HISTORY_SECONDS).fill(0),
    };
    for (let back = 0; back < Math.min(HISTORY_SECONDS, current); back++) {
      const second = this.#script.at(newestMs - back * 1000);
      const at = (current - 1 - back) % HISTORY_SECONDS;
      history.pop_ping_drop_rate[at] = second.dropRate;
      history.pop_ping_latency_ms[at] = second.latencyMs ?? 0;
      history.downlink_throughput_bps[at] = second.downlinkUsageBps;
      history.uplink_throughput_bps[at] = second.uplinkUsageBps;
    }
    return { current, ...history };
  }

  #map(): RawObstructionMap {
    const nowMs = this.#thisSecondMs();
    // No further back than there is anything to see of it.
    this.#paintedMs = Math.max(this.#paintedMs, nowMs - HISTORY_SECONDS * 1000);
    for (; this.#paintedMs < nowMs; this.#paintedMs += 1000) this.#paint(this.#paintedMs + 1000);
    return {
      num_rows: MAP_SIZE,
      num_cols: MAP_SIZE,
      snr: [...this.#snr],
      min_elevation_deg: MIN_ELEVATION_DEGREES,
      max_theta_deg: MAX_THETA_DEGREES,
      map_reference_frame: this.#geometry.frame === 'earth' ? 'FRAME_EARTH' : 'FRAME_UT',
    };
  }

  #paint(atMs: number): void {
    const direction = this.#script.satellite(atMs);
    const pixel = direction && pixelOf(this.#geometry, direction, this.#attitude);
    if (pixel === undefined) return;
    const at = Math.round(pixel.row) * MAP_SIZE + Math.round(pixel.column);
    this.#snr[at] = this.#script.at(atMs).obstructed ? 0 : 1;
  }
}

const DEAD_SECOND = { latencyMs: undefined, dropRate: 1, downlinkUsageBps: 0, uplinkUsageBps: 0, obstructed: false };

function attitudeFields([w, x, y, z]: Attitude): object {
  const { name, parts } = ATTITUDE_FIELD;
  return { [name]: withoutZeros({ [parts.w.name]: w, [parts.x.name]: x, [parts.y.name]: y, [parts.z.name]: z }) };
}

function withoutZeros<Name extends string>(fields: Record<Name, number | undefined>): { [Field in Name]?: number } {
  const entries = Object.entries(fields).filter(([, value]) => value !== 0 && value !== undefined);
  return Object.fromEntries(entries) as { [Field in Name]?: number };
}
