/** A dish for tests, which can make it misbehave: a gRPC server with the dish's API and scripted telemetry. */

import { promisify } from 'node:util';
import * as grpc from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import { deviceService, type OutageCause, type RawRequest, type RawResponse } from '../dish/device-api.ts';
import type { LocationReading } from '../dish/read-answers.ts';
import type { DishScript, SimulatedSecond } from './simulated-dish.ts';

export interface FakeDishOptions {
  script: DishScript;
  clock: Clock;
  /** Default: the dish refuses requests for its location. */
  location?: LocationReading | undefined;
}

/** Faults of a dish, which tests may combine. */
export interface Misbehaviour {
  delayMs?: number;
  /** Answers are cut to this share of their bytes, 0 to 1. */
  cutTo?: number;
  /** A source of random numbers, uniform in [0, 1), by which bytes of the answer are changed. */
  garble?: () => number;
  /** Replaces the answer. */
  change?: (response: RawResponse) => unknown;
  /** Requests fail with this gRPC status. */
  failWith?: number;
  /** Cause of the outage that the dish reports. */
  outage?: OutageCause;
}

const UPTIME_AT_START_SECONDS = 3600;
const HISTORY_SECONDS = 900;
const DEAD_SECOND = { latencyMs: undefined, dropRate: 1, downlinkUsageBps: 0, uplinkUsageBps: 0 };

export async function startFakeDish(options: FakeDishOptions) {
  let misbehaviour: Misbehaviour = {};
  /** Requested changes of the outage, newest first. */
  const outages: { fromMs: number; cause: OutageCause | undefined }[] = [];
  const at = (atMs: number): SimulatedSecond => {
    const outage = outages.find(({ fromMs }) => fromMs <= atMs)?.cause;
    const second = options.script.at(atMs);
    return outage === undefined ? second : { ...second, ...DEAD_SECOND, obstructed: outage === 'OBSTRUCTED', outage };
  };
  const dish = scriptedDish({ ...options, script: { at } });
  type Done = grpc.sendUnaryData<RawResponse>;
  const Handle = ({ request }: grpc.ServerUnaryCall<RawRequest, RawResponse>, done: Done) => {
    const { delayMs = 0, failWith, change = (response) => response } = misbehaviour;
    const answer = () => {
      if (failWith !== undefined) return done({ code: failWith, details: 'requested failure' });
      const response = dish.answer(request);
      if ('code' in response) done(response);
      else done(null, change(response) as RawResponse);
    };
    if (delayMs > 0) setTimeout(answer, delayMs);
    else answer();
  };
  const server = new grpc.Server();
  const definition = spoiled(deviceService(), () => misbehaviour);
  server.addService(definition, { Handle });
  const bind = promisify(server.bindAsync.bind(server));
  const port = await bind('127.0.0.1:0', grpc.ServerCredentials.createInsecure());
  return {
    address: `127.0.0.1:${port}`,
    /** Sets the faults until the next call. `{}` ends all faults. */
    misbehave(how: Misbehaviour) {
      misbehaviour = how;
      if (how.outage !== outages[0]?.cause) outages.unshift({ fromMs: dish.thisSecondMs(), cause: how.outage });
    },
    /** Resets uptime and history. */
    reboot: dish.reboot,
    /** Closes the server with its open connections. */
    close: () => server.forceShutdown(),
  };
}

/** The service definition with answers that `misbehaviour` may cut or garble. */
function spoiled(definition: grpc.ServiceDefinition, misbehaviour: () => Misbehaviour): grpc.ServiceDefinition {
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

/** Answers by the dish's own clock, which does not follow leaps of the machine's clock. */
function scriptedDish({ script, clock, location }: FakeDishOptions) {
  const utcOffsetMs = clock.utcMs() - clock.monotonicMs();
  const nowMs = () => clock.monotonicMs() + utcOffsetMs;
  const thisSecondMs = () => Math.floor(nowMs() / 1000) * 1000;
  let bootMs = nowMs() - UPTIME_AT_START_SECONDS * 1000;

  const statusNow = () => {
    const { dropRate, latencyMs, obstructed, outage: cause, ...usage } = script.at(thisSecondMs());
    return {
      device_info: { id: 'ut-fake', hardware_version: 'fake1_proto1', software_version: '2026.06.fake' },
      device_state: { uptime_s: Math.floor((nowMs() - bootMs) / 1000) },
      pop_ping_drop_rate: dropRate,
      pop_ping_latency_ms: latencyMs ?? 0,
      downlink_throughput_bps: usage.downlinkUsageBps,
      uplink_throughput_bps: usage.uplinkUsageBps,
      obstruction_stats: { fraction_obstructed: 0.02, currently_obstructed: obstructed },
      ...(cause !== undefined && { outage: { cause } }),
    };
  };

  const history = () => {
    const newestMs = thisSecondMs();
    const current = Math.max(0, Math.floor((newestMs - bootMs) / 1000));
    const length = Math.min(HISTORY_SECONDS, current);
    const seconds = Array.from({ length }, (_, back) => script.at(newestMs - back * 1000));
    const column = (value: (second: SimulatedSecond) => number) => {
      const values = new Array<number>(HISTORY_SECONDS).fill(0);
      seconds.forEach((second, back) => {
        values[(current - 1 - back) % HISTORY_SECONDS] = value(second);
      });
      return values;
    };
    return {
      current,
      pop_ping_drop_rate: column(({ dropRate }) => dropRate),
      pop_ping_latency_ms: column(({ latencyMs = 0 }) => latencyMs),
      downlink_throughput_bps: column(({ downlinkUsageBps }) => downlinkUsageBps),
      uplink_throughput_bps: column(({ uplinkUsageBps }) => uplinkUsageBps),
    };
  };

  return {
    thisSecondMs,
    reboot() {
      bootMs = nowMs();
    },
    answer(request: RawRequest): RawResponse | Pick<grpc.StatusObject, 'code' | 'details'> {
      if (request.get_status !== undefined) return { dish_get_status: withoutZeros(statusNow()) };
      if (request.get_history !== undefined) return { dish_get_history: withoutZeros(history()) };
      if (location === undefined) return { code: grpc.status.PERMISSION_DENIED, details: 'not allowed' };
      return { get_location: withoutZeros({ lla: { lat: location.latitudeDegrees, lon: location.longitudeDegrees } }) };
    },
  };
}

/** Protocol buffers omit fields with their default value, but not array items. */
function withoutZeros<Message extends object>(fields: Message): Partial<Message> {
  const entries = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (value === 0 || value === false) return [];
    return [[name, typeof value === 'object' && !Array.isArray(value) ? withoutZeros(value) : value]];
  });
  return Object.fromEntries(entries) as Partial<Message>;
}
