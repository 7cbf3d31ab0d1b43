/** Converts answers. Firmware differs, and the server is not trusted: malformed values are left out. */

import type { StateReply } from '../api/wire.ts';
import { isOutageCause, type OutageCause } from './device-api.ts';

/** Longest accepted history, in seconds: a day. */
const MOST_HISTORY = 86_400;
/** The fields of a second, which the history has as columns, in the order of `measured`. */
const MEASURED = ['pop_ping_latency_ms', 'pop_ping_drop_rate', 'downlink_throughput_bps', 'uplink_throughput_bps'];

export type StatusReading = NonNullable<ReturnType<typeof readStatus>>;
export type HistoryReading = NonNullable<ReturnType<typeof readHistory>>;
export type LocationReading = NonNullable<StateReply['location']>;

/** Returns undefined if the answer has no status. An outage with an unknown cause is `UNKNOWN`. */
export function readStatus(raw: unknown, atMs: number) {
  const status = record(raw);
  if (status === undefined) return undefined;
  const info = record(status['device_info']) ?? {};
  const obstruction = record(status['obstruction_stats']) ?? {};
  const outage = record(status['outage']);
  const given = outage?.['cause'];
  const cause: OutageCause | undefined = outage && (isOutageCause(given) ? given : 'UNKNOWN');
  const state = record(status['device_state']);
  // Protocol buffers omit zeros: an absent number of a status is zero.
  return {
    second: {
      atMs,
      ...measured(
        MEASURED.map((name) => status[name]),
        0,
      ),
      obstructed: obstruction['currently_obstructed'] === true || cause === 'OBSTRUCTED',
    },
    uptimeSeconds: state && numberOf(state['uptime_s'], { max: 1e10, absent: 0 }),
    hardware: textOf(info['hardware_version']),
    software: textOf(info['software_version']),
    fractionObstructed: numberOf(obstruction['fraction_obstructed'], { max: 1 }),
    outage: cause,
  };
}

/**
 * Reads the dish's ring buffer of seconds, whose numbers begin with 1 after a boot. `current` is the newest second, or 0
 * before the first second. Returns undefined if the answer has no history. Values are checked when a second is read.
 */
export function readHistory(raw: unknown) {
  const history = record(raw);
  const current = numberOf(history?.['current'], { max: Number.MAX_SAFE_INTEGER, absent: 0 }) ?? 0;
  const columns = MEASURED.map((name): unknown[] => (Array.isArray(history?.[name]) ? history[name] : []));
  const { length } = columns[0]!;
  if (length === 0 || length > MOST_HISTORY || !Number.isInteger(current)) return undefined;
  return {
    current,
    oldest: Math.max(1, current - length + 1),
    second: (number: number) => measured(columns.map((column) => column[(number - 1) % length])),
  };
}

/** Converts the values of `MEASURED`. `absent` replaces missing values, except the latency. */
function measured([latency, drop, down, up]: readonly unknown[], absent?: number) {
  return {
    latencyMs: latencyOf(latency),
    dropRate: numberOf(drop, { max: 1, absent }),
    downlinkUsageBps: numberOf(down, { max: 1e12, absent }),
    uplinkUsageBps: numberOf(up, { max: 1e12, absent }),
  };
}

export function readLocation(raw: unknown): LocationReading | undefined {
  const lla = record(record(raw)?.['lla']);
  // Zeros are omitted. One absent value is the equator or Greenwich. If both are absent, the dish has no position.
  if (lla?.['lat'] === undefined && lla?.['lon'] === undefined) return undefined;
  const latitudeDegrees = numberOf(lla['lat'], { min: -90, max: 90, absent: 0 });
  const longitudeDegrees = numberOf(lla['lon'], { min: -180, max: 180, absent: 0 });
  if (latitudeDegrees === undefined || longitudeDegrees === undefined) return undefined;
  return { latitudeDegrees, longitudeDegrees };
}

/** A lost ping is 0 or -1, depending on the firmware. */
function latencyOf(value: unknown): number | undefined {
  const latencyMs = value === -1 ? undefined : numberOf(value, { max: 60_000 });
  return latencyMs === 0 ? undefined : latencyMs;
}

interface Range {
  min?: number;
  max: number;
  absent?: number | undefined;
}

function numberOf(value: unknown, { min = 0, max, absent }: Range): number | undefined {
  if (value === undefined || value === null) return absent;
  // Single precision may round a share of 1 up: the limits have a tolerance.
  const isWithin = typeof value === 'number' && value >= min - 1e-6 && value <= max + 1e-6;
  return isWithin ? Math.min(max, Math.max(min, value)) : undefined;
}

function textOf(value: unknown): string | undefined {
  // The text is displayed: accept one line of printable ASCII.
  return typeof value === 'string' && /^[\x20-\x7e]{1,100}$/.test(value) ? value : undefined;
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
