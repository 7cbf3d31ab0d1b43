/** The JSON sidecar of a trace: its metadata. */

import { InputError } from '../../abr/errors.ts';
import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { handoverPhaseOf, type TraceMetadata } from '../trace.ts';
import { jsonObject } from './json-object.ts';
import { placeOf } from './place.ts';

/** All other keys are kept in `TraceMetadata.other`. */
const KNOWN = [
  'dataset',
  'recording_group',
  'epoch_phase_s',
  'start_utc',
  'handover_phase_s',
  'location',
  'licence',
] as const;

/** The metadata of a trace without a sidecar. */
export function defaultMetadata(traceName: string): TraceMetadata {
  return { dataset: 'unknown', recordingGroup: traceName };
}

/** Metadata from the text of a sidecar; `null` means unknown, like an absent key. `file` is for messages. */
export function parseSidecar(content: string, traceName: string, file: string): TraceMetadata {
  const fields = jsonObject(content, file);
  const wrong = (field: string, expected: string): never => {
    throw new InputError(placeOf({ file, field }), expected, fields[field]);
  };
  const text = (field: string): string | undefined => {
    const value = fields[field] ?? undefined;
    if (value === undefined) return undefined;
    return typeof value === 'string' && value !== '' ? value : wrong(field, 'a text');
  };

  const metadata = defaultMetadata(traceName);
  metadata.dataset = text('dataset') ?? metadata.dataset;
  metadata.recordingGroup = text('recording_group') ?? metadata.recordingGroup;
  const location = text('location');
  if (location !== undefined) metadata.location = location;
  const licence = text('licence');
  if (licence !== undefined) metadata.licence = licence;

  const startUtc = text('start_utc');
  if (startUtc !== undefined) {
    // A zone is required, because Date.parse would assume the reader's own.
    const startUtcMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:\d\d)$/.test(startUtc)
      ? Date.parse(startUtc)
      : Number.NaN;
    if (Number.isNaN(startUtcMs)) wrong('start_utc', 'a date and time like "2024-04-19T16:23:20.000Z"');
    metadata.startUtcMs = startUtcMs;
  }
  const secondsBelow = (field: string, limit: number): number | undefined => {
    const value = fields[field] ?? undefined;
    if (value === undefined || (typeof value === 'number' && value >= 0 && value < limit)) return value;
    return wrong(field, `a number from 0 to below ${limit}`);
  };
  const phase = secondsBelow('epoch_phase_s', 60);
  const handover = secondsBelow('handover_phase_s', EPOCH_SECONDS);
  if (handover !== undefined) metadata.handoverPhaseSeconds = handover;
  if (phase !== undefined) metadata.epochPhaseSeconds = phase;
  else if (metadata.startUtcMs !== undefined) metadata.epochPhaseSeconds = (metadata.startUtcMs % 60_000) / 1000;
  // Without a clock, the dips show the epochs: the second of the minute is right modulo 15.
  else if (handover !== undefined) metadata.epochPhaseSeconds = handoverPhaseOf(handover);
  const other = Object.entries(fields).filter(([key]) => !(KNOWN as readonly string[]).includes(key));
  if (other.length > 0) metadata.other = Object.fromEntries(other);
  return metadata;
}

/** The sidecar's text; parsing it gives the same metadata. */
export function formatSidecar(metadata: TraceMetadata): string {
  const { startUtcMs, epochPhaseSeconds, handoverPhaseSeconds, location, licence } = metadata;
  const json = {
    dataset: metadata.dataset,
    recording_group: metadata.recordingGroup,
    ...(location === undefined ? {} : { location }),
    ...(licence === undefined ? {} : { licence }),
    ...(startUtcMs === undefined ? {} : { start_utc: new Date(startUtcMs).toISOString() }),
    ...(epochPhaseSeconds === undefined ? {} : { epoch_phase_s: epochPhaseSeconds }),
    ...(handoverPhaseSeconds === undefined ? {} : { handover_phase_s: handoverPhaseSeconds }),
    ...metadata.other,
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}
