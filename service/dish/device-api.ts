/**
 * The part of the dish's gRPC API (firmware of 2026-06) that the service reads: `SpaceX.API.Device.Device`, one method
 * whose request and response are a choice of messages. Numbers as the dish's own reflection gives them. Fields that are
 * not named here are skipped when read.
 */

import {
  type ChannelCredentials,
  type Client,
  credentials,
  loadPackageDefinition,
  logVerbosity,
  type ServiceDefinition,
  setLogVerbosity,
} from '@grpc/grpc-js';
import { fromJSON, type PackageDefinition } from '@grpc/proto-loader';
import { inPackage, message, type ShortField } from './protobuf-json.ts';

export const DEVICE_PACKAGE = 'SpaceX.API.Device';
export const DEVICE_SERVICE = `${DEVICE_PACKAGE}.Device`;
export const STATUS_MESSAGE = `${DEVICE_PACKAGE}.DishGetStatusResponse`;

/** Causes of outages, as the dish names them. */
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

const STATUS: Record<string, ShortField> = {
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
};

/** Numbers of the status that are taken. */
export const STATUS_NUMBERS: readonly number[] = Object.values(STATUS).map(([number]) => number);

/**
 * Where the status holds the dish's attitude as a quaternion: its number is not known to us, but to the dish
 * (`attitude-field.ts`).
 */
export interface AttitudeField {
  number: number;
  name: string;
  /** Of its message. */
  parts: { [Part in 'w' | 'x' | 'y' | 'z']: { number: number; name: string } };
  type: 'float' | 'double';
}

const MESSAGES = {
  Device: { methods: { Handle: { requestType: 'Request', responseType: 'Response' } } },
  Request: message({ id: [1, 'uint64'], ...REQUESTS }, { request: Object.keys(REQUESTS) }),
  Response: message(
    { id: [1, 'uint64'], status: [2, 'Status'], api_version: [3, 'uint64'], ...RESPONSES },
    { response: Object.keys(RESPONSES) },
  ),
  Status: message({ code: [1, 'int32'], message: [2, 'string'] }),
  GetStatusRequest: message({}),
  GetHistoryRequest: message({}),
  GetLocationRequest: message({}),
  DishGetObstructionMapRequest: message({}),
  DeviceInfo: message({ id: [1, 'string'], hardware_version: [2, 'string'], software_version: [3, 'string'] }),
  DeviceState: message({ uptime_s: [1, 'uint64'] }),
  DishObstructionStats: message({
    fraction_obstructed: [1, 'float'],
    valid_s: [4, 'float'],
    currently_obstructed: [5, 'bool'],
    time_obstructed: [9, 'float'],
    patches_valid: [10, 'uint32'],
  }),
  DishOutage: {
    ...message({
      cause: [1, 'Cause'],
      start_timestamp_ns: [2, 'int64'],
      duration_ns: [3, 'uint64'],
      did_switch: [4, 'bool'],
    }),
    nested: { Cause: { values: OUTAGE_CAUSES } },
  },
  DishGetStatusResponse: message(STATUS),
  DishGetHistoryResponse: message({
    current: [1, 'uint64'],
    pop_ping_drop_rate: [1001, 'float[]'],
    pop_ping_latency_ms: [1002, 'float[]'],
    downlink_throughput_bps: [1003, 'float[]'],
    uplink_throughput_bps: [1004, 'float[]'],
    outages: [1009, 'DishOutage[]'],
  }),
  ObstructionMapReferenceFrame: { values: MAP_FRAMES },
  DishGetObstructionMapResponse: message({
    num_rows: [1, 'uint32'],
    num_cols: [2, 'uint32'],
    snr: [3, 'float[]'],
    min_elevation_deg: [4, 'float'],
    max_theta_deg: [5, 'float'],
    map_reference_frame: [6, 'ObstructionMapReferenceFrame'],
  }),
  LLAPosition: message({ lat: [1, 'double'], lon: [2, 'double'], alt: [3, 'double'] }),
  GetLocationResponse: message({ lla: [1, 'LLAPosition'], source: [3, 'int32'], sigma_m: [4, 'double'] }),
};

/** Fields by message that are added to those above; a message that is not there yet is made. */
export type FurtherFields = Record<string, Record<string, ShortField>>;

export function attitudeFields({ parts, type, name, number }: AttitudeField): FurtherFields {
  return {
    DishGetStatusResponse: { [name]: [number, 'AttitudeQuaternion'] },
    AttitudeQuaternion: Object.fromEntries(Object.values(parts).map((part) => [part.name, [part.number, type]])),
  };
}

function definitions(further: readonly FurtherFields[]): object {
  const messages = new Map<string, object>(Object.entries(MESSAGES));
  for (const [name, fields] of further.flatMap((added) => Object.entries(added))) {
    const known = messages.get(name) as { fields?: object } | undefined;
    messages.set(name, { ...known, fields: { ...known?.fields, ...message(fields).fields } });
  }
  return inPackage(DEVICE_PACKAGE, Object.fromEntries(messages));
}

/** As they are decoded: whatever is missing is missing, and nothing has been checked. */
export interface RawStatus {
  device_info?: { id?: string; hardware_version?: string; software_version?: string };
  device_state?: { uptime_s?: number };
  seconds_to_first_nonempty_slot?: number;
  pop_ping_drop_rate?: number;
  obstruction_stats?: {
    fraction_obstructed?: number;
    valid_s?: number;
    currently_obstructed?: boolean;
    time_obstructed?: number;
    patches_valid?: number;
  };
  downlink_throughput_bps?: number;
  uplink_throughput_bps?: number;
  pop_ping_latency_ms?: number;
  boresight_azimuth_deg?: number;
  boresight_elevation_deg?: number;
  outage?: RawOutage;
  is_snr_above_noise_floor?: boolean;
}

export interface RawOutage {
  /** A name, or the number of one that is not known. */
  cause?: OutageCause | number;
  start_timestamp_ns?: number;
  duration_ns?: number;
  did_switch?: boolean;
}

export interface RawHistory {
  current?: number;
  pop_ping_drop_rate?: number[];
  pop_ping_latency_ms?: number[];
  downlink_throughput_bps?: number[];
  uplink_throughput_bps?: number[];
  outages?: RawOutage[];
}

export interface RawObstructionMap {
  num_rows?: number;
  num_cols?: number;
  snr?: number[];
  min_elevation_deg?: number;
  max_theta_deg?: number;
  map_reference_frame?: keyof typeof MAP_FRAMES | number;
}

export interface RawLocation {
  lla?: { lat?: number; lon?: number; alt?: number };
  source?: number;
  sigma_m?: number;
}

export type RequestName = keyof typeof REQUESTS;
export type RawRequest = { id?: number } & { [Name in RequestName]?: object };

export interface RawResponse {
  id?: number;
  status?: { code?: number; message?: string };
  api_version?: number;
  get_location?: RawLocation;
  dish_get_status?: RawStatus;
  dish_get_history?: RawHistory;
  dish_get_obstruction_map?: RawObstructionMap;
}

/** 64-bit numbers as doubles (exact to 2^53), enumerations by name, nothing filled in that is missing. */
const LOADING = { longs: Number, enums: String, defaults: false, arrays: false, oneofs: false };

/** All definitions by full name. */
export function devicePackage(...further: FurtherFields[]): PackageDefinition {
  // gRPC writes to the console what its callers are told as well.
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

/** The dish speaks without TLS. */
export function newDeviceClient(
  address: string,
  channelOptions: Record<string, number>,
  ...further: FurtherFields[]
): DeviceClient {
  const { SpaceX } = loadPackageDefinition(devicePackage(...further)) as unknown as {
    SpaceX: {
      API: { Device: { Device: new (address: string, security: ChannelCredentials, options: object) => DeviceClient } };
    };
  };
  return new SpaceX.API.Device.Device(address, credentials.createInsecure(), channelOptions);
}
