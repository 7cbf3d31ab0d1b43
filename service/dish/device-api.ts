/**
 * The dish's gRPC API (firmware of 2026-06): `SpaceX.API.Device.Device`, one method whose request and response are a
 * choice of messages. `device-api.json` has the messages that are read, with the number and type of each field, from the
 * dish's own reflection; it needs no `.proto` file at run time. Other fields are skipped.
 */

import {
  type Client,
  credentials,
  logVerbosity,
  makeClientConstructor,
  type ServiceDefinition,
  setLogVerbosity,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import api from './device-api.json' with { type: 'json' };

const SERVICE = 'SpaceX.API.Device.Device';

const OUTAGE_CAUSES = {
  UNKNOWN: 0,
  BOOTING: 1,
  STOWED: 2,
  THERMAL_SHUTDOWN: 3,
  NO_SCHEDULE: 4,
  NO_SATS: 5,
  OBSTRUCTED: 6,
  NO_DOWNLINK: 7,
  NO_PINGS: 8,
  ACTUATOR_ACTIVITY: 9,
  CABLE_TEST: 10,
  SLEEPING: 11,
  MOVING_WHILE_NOT_ALLOWED: 12,
  SKY_SEARCH: 13,
  INHIBIT_RF: 14,
} as const;
export type OutageCause = keyof typeof OUTAGE_CAUSES;

export function isOutageCause(value: unknown): value is OutageCause {
  return typeof value === 'string' && Object.hasOwn(OUTAGE_CAUSES, value);
}

/** A decoded message. Fields may be missing, values are unchecked, and unknown enumeration values are numbers. */
type Message = Readonly<Record<string, unknown>>;

export interface RawRequest {
  id?: number;
  get_status?: Message;
  get_history?: Message;
  get_location?: Message;
}

export interface RawResponse {
  id?: number;
  get_location?: Message;
  dish_get_status?: Message;
  dish_get_history?: Message;
}

/** `[number, type]` by name; `type[]` if repeated. */
type Fields = Readonly<Record<string, readonly [number, string]>>;

/** The definitions in the notation of protobufjs. */
function definitions(): object {
  const messages: Record<string, object> = {};
  for (const [name, fields] of Object.entries(api as unknown as Readonly<Record<string, Fields>>)) {
    const json = Object.entries(fields).map(([field, [id, type]]) => {
      const repeated = { type: type.slice(0, -2), id, rule: 'repeated', options: { packed: true } };
      return [field, type.endsWith('[]') ? repeated : { type, id }];
    });
    const choice = { oneof: Object.keys(fields).filter((field) => field !== 'id') };
    const isChoice = name === 'Request' || name === 'Response';
    messages[name] = { fields: Object.fromEntries(json), ...(isChoice && { oneofs: { choice } }) };
  }
  const nested = {
    ...messages,
    Device: { methods: { Handle: { requestType: 'Request', responseType: 'Response' } } },
    DishOutage: { ...messages['DishOutage'], nested: { Cause: { values: OUTAGE_CAUSES } } },
  };
  return { nested: { SpaceX: { nested: { API: { nested: { Device: { nested } } } } } } };
}

/** 64-bit numbers are doubles (exact to 2^53), enumerations names, and missing fields are left out. */
const LOADING = { longs: Number, enums: String, defaults: false, arrays: false, oneofs: false };

export function deviceService(): ServiceDefinition {
  // gRPC logs errors to the console that it also passes to its callers.
  setLogVerbosity(logVerbosity.NONE);
  return fromJSON(definitions() as Parameters<typeof fromJSON>[0], LOADING)[SERVICE] as unknown as ServiceDefinition;
}

type HandleCall = (
  request: RawRequest,
  options: { deadline: number },
  done: (error: (Error & { code?: number; details?: string }) | null, response?: RawResponse) => void,
) => { cancel(): void };

export type DeviceClient = Client & { Handle: HandleCall };

/** Connects without TLS, which the dish does not offer. */
export function newDeviceClient(address: string, channelOptions: Record<string, number>): DeviceClient {
  const Device = makeClientConstructor(deviceService(), SERVICE);
  return new Device(address, credentials.createInsecure(), channelOptions) as unknown as DeviceClient;
}
