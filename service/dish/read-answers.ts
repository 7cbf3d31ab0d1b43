/** Converts answers. Firmware differs, and the server is not trusted: malformed values are omitted. */

import type { TelemetrySecond } from '../telemetry.ts';
import { isOutageCause, type OutageCause } from './device-api.ts';

const MOST_HISTORY = 86_400;

export interface StatusReading {
  second: TelemetrySecond;
  uptimeSeconds: number | undefined;
  hardware: string | undefined;
  software: string | undefined;
  fractionObstructed: number | undefined;
  /** The current outage; an unknown cause is `UNKNOWN`. */
  outage: OutageCause | undefined;
}

/** The dish's ring buffer of seconds, which are numbered from 1 since the boot. */
export interface HistoryReading {
  /** Number of the newest second; 0: none yet. */
  current: number;
  oldest: number;
  /** `number`: from `oldest` to `current`. */
  second(number: number): Omit<TelemetrySecond, 'atMs'>;
}

export interface LocationReading {
  latitudeDegrees: number;
  longitudeDegrees: number;
}

/** Undefined if the answer has no status. */
export function readStatus(raw: unknown, atMs: number): StatusReading | undefined {
  const status = record(raw);
  if (status === undefined) return undefined;
  const info = record(status['device_info']) ?? {};
  const obstruction = record(status['obstruction_stats']) ?? {};
  const outage = record(status['outage']);
  const given = outage?.['cause'];
  const cause = outage === undefined ? undefined : isOutageCause(given) ? given : 'UNKNOWN';
  const state = record(status['device_state']);
  // Protocol buffers omit zeros: an absent number is zero here.
  return {
    second: {
      atMs,
      latencyMs: latencyOf(status['pop_ping_latency_ms']),
      dropRate: numberOf(status['pop_ping_drop_rate'], { max: 1 }, 0),
      downlinkUsageBps: numberOf(status['downlink_throughput_bps'], { max: 1e12 }, 0),
      uplinkUsageBps: numberOf(status['uplink_throughput_bps'], { max: 1e12 }, 0),
      obstructed: obstruction['currently_obstructed'] === true || cause === 'OBSTRUCTED',
    },
    uptimeSeconds: state && numberOf(state['uptime_s'], { max: 1e10 }, 0),
    hardware: textOf(info['hardware_version']),
    software: textOf(info['software_version']),
    fractionObstructed: numberOf(obstruction['fraction_obstructed'], { max: 1 }),
    outage: cause,
  };
}

/** Undefined if the answer has no history. Values are checked when a second is read. */
export function readHistory(raw: unknown): HistoryReading | undefined {
  const history = record(raw);
  const current = numberOf(history?.['current'], { max: Number.MAX_SAFE_INTEGER }, 0) ?? 0;
  const names = ['pop_ping_latency_ms', 'pop_ping_drop_rate', 'downlink_throughput_bps', 'uplink_throughput_bps'];
  const columns = names.map((name): unknown[] => (Array.isArray(history?.[name]) ? history[name] : []));
  const { length } = columns[0]!;
  if (length === 0 || length > MOST_HISTORY || !Number.isInteger(current)) return undefined;
  return {
    current,
    oldest: Math.max(1, current - length + 1),
    second: (number) => {
      const [latency, drop, down, up] = columns.map((column) => column[(number - 1) % length]);
      return {
        latencyMs: latencyOf(latency),
        dropRate: numberOf(drop, { max: 1 }),
        downlinkUsageBps: numberOf(down, { max: 1e12 }),
        uplinkUsageBps: numberOf(up, { max: 1e12 }),
      };
    },
  };
}

export function readLocation(raw: unknown): LocationReading | undefined {
  const lla = record(record(raw)?.['lla']);
  // Zeros are omitted. One absent value is the equator or Greenwich; two mean that the dish has no position.
  if (lla?.['lat'] === undefined && lla?.['lon'] === undefined) return undefined;
  const latitudeDegrees = numberOf(lla['lat'], { min: -90, max: 90 }, 0);
  const longitudeDegrees = numberOf(lla['lon'], { min: -180, max: 180 }, 0);
  if (latitudeDegrees === undefined || longitudeDegrees === undefined) return undefined;
  return { latitudeDegrees, longitudeDegrees };
}

/** A lost ping is 0 or -1, depending on the firmware. */
function latencyOf(value: unknown): number | undefined {
  const latencyMs = value === -1 ? undefined : numberOf(value, { max: 60_000 });
  return latencyMs === 0 ? undefined : latencyMs;
}

function numberOf(
  value: unknown,
  { min = 0, max }: { min?: number; max: number },
  absent?: number,
): number | undefined {
  if (value === undefined || value === null) return absent;
  // Single precision may round a share of 1 up.
  const isWithin = typeof value === 'number' && value >= min - 1e-6 && value <= max + 1e-6;
  return isWithin ? Math.min(max, Math.max(min, value)) : undefined;
}

function textOf(value: unknown): string | undefined {
  // It is displayed: accept one line of printable ASCII.
  return typeof value === 'string' && /^[\x20-\x7e]{1,100}$/.test(value) ? value : undefined;
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
