/**
 * The dish's gRPC API (firmware of 2026-06): `SpaceX.API.Device.Device`, one method whose request and response are a
 * choice of messages. `device-api.json` has the messages with the number and type of each field, from the dish's own
 * reflection; it needs no `.proto` file at run time. Fields that it does not name are skipped.
 */

import {
  type Client,
  credentials,
  logVerbosity,
  makeClientConstructor,
  type ServiceDefinition,
  setLogVerbosity,
} from '@grpc/grpc-js';
import { fromJSON, type PackageDefinition } from '@grpc/proto-loader';
import api from './device-api.json' with { type: 'json' };
import { type Fields, inPackage, message } from './protobuf-json.ts';

export const DEVICE_PACKAGE = 'SpaceX.API.Device';
export const DEVICE_SERVICE = `${DEVICE_PACKAGE}.Device`;
export const STATUS_MESSAGE = `${DEVICE_PACKAGE}.DishGetStatusResponse`;

export const OUTAGE_CAUSES = {
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

/** What the pixels of the obstruction map are relative to. */
export const MAP_FRAMES = { FRAME_UNKNOWN: 0, FRAME_EARTH: 1, FRAME_UT: 2 } as const;

/** A decoded message. Fields may be missing, values are unchecked, and unknown enumeration values are numbers. */
type Message = Readonly<Record<string, unknown>>;

export interface RawRequest {
  id?: number;
  get_status?: Message;
  get_history?: Message;
  get_location?: Message;
  dish_get_obstruction_map?: Message;
}

export interface RawResponse {
  id?: number;
  get_location?: Message;
  dish_get_status?: Message;
  dish_get_history?: Message;
  dish_get_obstruction_map?: Message;
}

const FIELDS = api as unknown as Readonly<Record<string, Fields>>;

export const STATUS_NUMBERS: readonly number[] = Object.values(FIELDS['DishGetStatusResponse']!).map(([id]) => id);

/** Fields by message, in addition to those above. */
export type FurtherFields = Readonly<Record<string, Fields>>;

/** Where the status holds the dish's attitude quaternion. It is not published: `attitude-field.ts` asks the dish. */
export interface AttitudeField {
  number: number;
  /** Field numbers within the quaternion's message. */
  parts: { w: number; x: number; y: number; z: number };
  type: 'float' | 'double';
}

export function attitudeFields({ parts, type, number }: AttitudeField): FurtherFields {
  return {
    DishGetStatusResponse: { attitude: [number, 'AttitudeQuaternion'] },
    AttitudeQuaternion: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, [part, type]])),
  };
}

function definitions(further: readonly FurtherFields[]): object {
  const messages: Record<string, { fields?: object }> = {};
  for (const [name, fields] of [FIELDS, ...further].flatMap((added) => Object.entries(added))) {
    const choice = { Request: 'request', Response: 'response' }[name];
    const chosen = Object.keys(fields).filter((field) => field.startsWith('get_') || field.startsWith('dish_get_'));
    const { fields: more, ...oneofs } = message(fields, choice === undefined ? {} : { [choice]: chosen });
    messages[name] = { ...messages[name], ...oneofs, fields: { ...messages[name]?.fields, ...more } };
  }
  return inPackage(DEVICE_PACKAGE, {
    ...messages,
    Device: { methods: { Handle: { requestType: 'Request', responseType: 'Response' } } },
    DishOutage: { ...messages['DishOutage'], nested: { Cause: { values: OUTAGE_CAUSES } } },
    ObstructionMapReferenceFrame: { values: MAP_FRAMES },
  });
}

/** 64-bit numbers as doubles (exact to 2^53), enumerations by name, missing fields left out. */
const LOADING = { longs: Number, enums: String, defaults: false, arrays: false, oneofs: false };

/** All definitions by full name. */
export function devicePackage(...further: FurtherFields[]): PackageDefinition {
  // gRPC logs errors to the console that it also passes to its callers.
  setLogVerbosity(logVerbosity.NONE);
  return fromJSON(definitions(further) as Parameters<typeof fromJSON>[0], LOADING);
}

export function deviceService(definitions: PackageDefinition): ServiceDefinition {
  return definitions[DEVICE_SERVICE] as unknown as ServiceDefinition;
}

type HandleCall = (
  request: RawRequest,
  options: { deadline: number },
  done: (error: (Error & { code?: number; details?: string }) | null, response?: RawResponse) => void,
) => { cancel(): void };

export type DeviceClient = Client & { Handle: HandleCall };

/** Connects without TLS, which the dish does not offer. */
export function newDeviceClient(
  address: string,
  channelOptions: Record<string, number>,
  ...further: FurtherFields[]
): DeviceClient {
  const Device = makeClientConstructor(deviceService(devicePackage(...further)), DEVICE_SERVICE);
  return new Device(address, credentials.createInsecure(), channelOptions) as unknown as DeviceClient;
}
