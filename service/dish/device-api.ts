/**
 * The gRPC API of the dish (firmware of 2026-06): `SpaceX.API.Device.Device` has one method, whose request and response
 * are a choice of messages. `device-api.json` has the messages that the service reads, in the notation of protobufjs.
 * They are from the dish's own reflection. Other fields are skipped.
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

const { values: OUTAGE_CAUSES } = api.nested.SpaceX.nested.API.nested.Device.nested.DishOutage.nested.Cause;
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

/** 64-bit numbers become doubles (exact to 2^53) and enumerations become names. Missing fields are left out. */
const LOADING = { longs: Number, enums: String, defaults: false, arrays: false, oneofs: false };

export function deviceService(): ServiceDefinition {
  // gRPC would log errors to the console, although it passes them to its callers.
  setLogVerbosity(logVerbosity.NONE);
  return fromJSON(api as unknown as Parameters<typeof fromJSON>[0], LOADING)[SERVICE] as unknown as ServiceDefinition;
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
