/** The JSON sidecar of a trace: its metadata. */

import { InputError } from '../../abr/errors.ts';
import type { TraceMetadata } from '../trace.ts';
import { placeOf } from './place.ts';

/** All other keys are kept in `TraceMetadata.other`. */
const KNOWN = ['dataset', 'recording_group', 'epoch_phase_s', 'start_utc', 'location', 'licence'] as const;

/** The metadata of a trace without a sidecar. */
export function defaultMetadata(traceName: string): TraceMetadata {
  return { dataset: 'unknown', recordingGroup: traceName };
}

/** Metadata from the text of a sidecar; `null` means unknown, like an absent key. `file` is for messages. */
export function parseSidecar(text: string, traceName: string, file: string): TraceMetadata {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new InputError(file, 'a JSON object', error);
  }
  return metadataFromJson(json, traceName, file);
}

/** Validated metadata from a sidecar's JSON value. */
export function metadataFromJson(json: unknown, traceName: string, file: string): TraceMetadata {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new InputError(file, 'a JSON object', json);
  }
  const fields = json as Record<string, unknown>;
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
  const { epoch_phase_s: phase = null } = fields;
  if (phase !== null) {
    if (typeof phase !== 'number' || !(phase >= 0 && phase < 60)) wrong('epoch_phase_s', 'a number from 0 to below 60');
    metadata.epochPhaseSeconds = phase as number;
  } else if (metadata.startUtcMs !== undefined) {
    metadata.epochPhaseSeconds = (metadata.startUtcMs % 60_000) / 1000;
  }
  const other = Object.entries(fields).filter(([key]) => !(KNOWN as readonly string[]).includes(key));
  if (other.length > 0) metadata.other = Object.fromEntries(other);
  return metadata;
}

/** The sidecar's text; parsing it gives the same metadata. */
export function formatSidecar(metadata: TraceMetadata): string {
  const { startUtcMs, epochPhaseSeconds, location, licence } = metadata;
  const json = {
    dataset: metadata.dataset,
    recording_group: metadata.recordingGroup,
    ...(location === undefined ? {} : { location }),
    ...(licence === undefined ? {} : { licence }),
    ...(startUtcMs === undefined ? {} : { start_utc: new Date(startUtcMs).toISOString() }),
    ...(epochPhaseSeconds === undefined ? {} : { epoch_phase_s: epochPhaseSeconds }),
    ...metadata.other,
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}
