/**
 * The part of the dish's gRPC API (firmware of 2026-06) that the service reads: `SpaceX.API.Device.Device`, one method
 * whose request and response are a choice of messages. The field numbers come from the dish's own reflection. Fields
 * that are not named here are skipped.
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
import { inPackage, message, type ShortField } from './protobuf-json.ts';

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

const REQUESTS = {
  get_status: [1004, 'GetStatusRequest'],
  get_history: [1007, 'GetHistoryRequest'],
  get_location: [1017, 'GetLocationRequest'],
  dish_get_obstruction_map: [2008, 'DishGetObstructionMapRequest'],
} as const;
const RESPONSES = {
  get_location: [1017, 'GetLocationResponse'],
  dish_get_status: [2004, 'DishGetStatusResponse'],
  dish_get_history: [2006, 'DishGetHistoryResponse'],
  dish_get_obstruction_map: [2008, 'DishGetObstructionMapResponse'],
} as const;

/** The fields of each message. */
const FIELDS = {
  Request: { id: [1, 'uint64'], ...REQUESTS },
  Response: { id: [1, 'uint64'], status: [2, 'Status'], api_version: [3, 'uint64'], ...RESPONSES },
  Status: { code: [1, 'int32'], message: [2, 'string'] },
  GetStatusRequest: {},
  GetHistoryRequest: {},
  GetLocationRequest: {},
  DishGetObstructionMapRequest: {},
  DeviceInfo: { id: [1, 'string'], hardware_version: [2, 'string'], software_version: [3, 'string'] },
  DeviceState: { uptime_s: [1, 'uint64'] },
  DishObstructionStats: {
    fraction_obstructed: [1, 'float'],
    valid_s: [4, 'float'],
    currently_obstructed: [5, 'bool'],
    time_obstructed: [9, 'float'],
    patches_valid: [10, 'uint32'],
  },
  DishOutage: {
    cause: [1, 'Cause'],
    start_timestamp_ns: [2, 'int64'],
    duration_ns: [3, 'uint64'],
    did_switch: [4, 'bool'],
  },
  DishGetStatusResponse: {
    device_info: [1, 'DeviceInfo'],
    device_state: [2, 'DeviceState'],
    seconds_to_first_nonempty_slot: [1002, 'float'],
    pop_ping_drop_rate: [1003, 'float'],
    obstruction_stats: [1004, 'DishObstructionStats'],
    downlink_throughput_bps: [1007, 'float'],
    uplink_throughput_bps: [1008, 'float'],
    pop_ping_latency_ms: [1009, 'float'],
    boresight_azimuth_deg: [1011, 'float'],
    boresight_elevation_deg: [1012, 'float'],
    outage: [1014, 'DishOutage'],
    is_snr_above_noise_floor: [1018, 'bool'],
  },
  DishGetHistoryResponse: {
    current: [1, 'uint64'],
    pop_ping_drop_rate: [1001, 'float[]'],
    pop_ping_latency_ms: [1002, 'float[]'],
    downlink_throughput_bps: [1003, 'float[]'],
    uplink_throughput_bps: [1004, 'float[]'],
    outages: [1009, 'DishOutage[]'],
  },
  DishGetObstructionMapResponse: {
    num_rows: [1, 'uint32'],
    num_cols: [2, 'uint32'],
    snr: [3, 'float[]'],
    min_elevation_deg: [4, 'float'],
    max_theta_deg: [5, 'float'],
    map_reference_frame: [6, 'ObstructionMapReferenceFrame'],
  },
  LLAPosition: { lat: [1, 'double'], lon: [2, 'double'], alt: [3, 'double'] },
  GetLocationResponse: { lla: [1, 'LLAPosition'], source: [3, 'int32'], sigma_m: [4, 'double'] },
} as const;

export const STATUS_NUMBERS: readonly number[] = Object.values(FIELDS.DishGetStatusResponse).map(([number]) => number);

type Value<Type> = Type extends `${infer Item}[]`
  ? Value<Item>[]
  : Type extends keyof typeof FIELDS
    ? Decoded<Type>
    : Type extends 'Cause'
      ? OutageCause | number
      : Type extends 'ObstructionMapReferenceFrame'
        ? keyof typeof MAP_FRAMES | number
        : Type extends 'string'
          ? string
          : Type extends 'bool'
            ? boolean
            : number;
/** A decoded message. Fields may be missing, values are unchecked, and unknown enumeration values are numbers. */
type Decoded<Name extends keyof typeof FIELDS> = {
  -readonly [Field in keyof (typeof FIELDS)[Name]]?: (typeof FIELDS)[Name][Field] extends readonly [number, infer Type]
    ? Value<Type>
    : never;
};
export type RawRequest = Decoded<'Request'>;
export type RawResponse = Decoded<'Response'>;
export type RawOutage = Decoded<'DishOutage'>;

/** Fields by message, in addition to those above. */
export type FurtherFields = Record<string, Record<string, ShortField>>;

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
  const messages: Record<string, { fields?: object }> = {
    ...Object.fromEntries(Object.entries(FIELDS).map(([name, fields]) => [name, message(fields)])),
    Request: message(FIELDS.Request, { request: Object.keys(REQUESTS) }),
    Response: message(FIELDS.Response, { response: Object.keys(RESPONSES) }),
  };
  for (const [name, fields] of further.flatMap((added) => Object.entries(added))) {
    messages[name] = { ...messages[name], fields: { ...messages[name]?.fields, ...message(fields).fields } };
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
