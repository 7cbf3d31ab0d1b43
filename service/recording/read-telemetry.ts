/** Reads the telemetry of a recording (`records-*.jsonl`), for a simulated dish. */

import { InputError } from '../../abr/errors.ts';
import type { TelemetrySecond } from '../telemetry.ts';

/** In order of time, at most one per second. Skips other records and a truncated last line. */
export function readTelemetry(text: string, file: string): TelemetrySecond[] {
  const lines = text.split('\n');
  const seconds: TelemetrySecond[] = [];
  lines.forEach((line, i) => {
    if (line === '') return;
    let record: unknown;
    try {
      record = JSON.parse(line);
    } catch {
      if (i === lines.length - 1) return;
      throw new InputError(`${file}:${i + 1}`, 'a line of JSON', line);
    }
    const second = telemetryOf(record, `${file}:${i + 1}`);
    const last = seconds.at(-1);
    if (second !== undefined && (last === undefined || second.atMs >= last.atMs + 500)) seconds.push(second);
  });
  if (seconds.length === 0) throw new InputError(file, 'at least one record of the kind telemetry', 'none');
  return seconds;
}

function telemetryOf(record: unknown, place: string): TelemetrySecond | undefined {
  const fields = record as Record<string, unknown> | null;
  if (typeof fields !== 'object' || fields === null) throw new InputError(place, 'an object', record);
  if (fields['kind'] !== 'telemetry') return undefined;
  const number = (name: string, isRequired = false): number | undefined => {
    const value = fields[name];
    if (value === undefined && !isRequired) return undefined;
    if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
    throw new InputError(`${place}: ${name}`, 'a number of at least 0', value);
  };
  return {
    atMs: number('atMs', true)!,
    latencyMs: number('latencyMs'),
    dropRate: number('dropRate'),
    downlinkUsageBps: number('downlinkUsageBps'),
    uplinkUsageBps: number('uplinkUsageBps'),
    obstructed: fields['obstructed'] === true,
  };
}
