/** The JSON sidecar of a trace: its metadata. */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { handoverPhaseOf, type TraceMetadata } from '../trace.ts';
import { FieldCheck, jsonObject } from './field-check.ts';

export const UNKNOWN_DATASET = 'unknown';
/** Data sets that are the user's own: without a name, and what `leo-abr serve` recorded. */
const OWN_DATASETS: readonly unknown[] = [undefined, UNKNOWN_DATASET, 'recorded'];

export function defaultMetadata(traceName: string): TraceMetadata {
  return { dataset: UNKNOWN_DATASET, recordingGroup: traceName, keepsRates: true };
}

/** Metadata from the text of a sidecar; `null` means unknown, like an absent key. `file` is for messages. */
export function parseSidecar(content: string, traceName: string, file: string): TraceMetadata {
  const known = Object.entries(jsonObject(content, file)).filter(([, value]) => value !== null);
  const check = new FieldCheck(file, Object.fromEntries(known));
  const { dataset, recording_group, epoch_phase_s, start_utc, handover_phase_s, location, licence, ...other } =
    check.fields;
  const { dataset: unknown, recordingGroup } = defaultMetadata(traceName);
  const secondsBelow = (field: string, limit: number, value: unknown): number | undefined => {
    if (value === undefined || (typeof value === 'number' && value >= 0 && value < limit)) return value;
    return check.wrong(field, `a number from 0 to below ${limit}`);
  };
  const startUtcMs = start_utc === undefined ? undefined : utcMsOf(start_utc);
  if (Number.isNaN(startUtcMs)) check.wrong('start_utc', 'a date and time like "2024-04-19T16:23:20.000Z"');
  const handoverPhaseSeconds = secondsBelow('handover_phase_s', EPOCH_SECONDS, handover_phase_s);
  // Without a clock, the dips give the second of the minute modulo 15.
  const fromDips = handoverPhaseSeconds === undefined ? undefined : handoverPhaseOf(handoverPhaseSeconds);
  const inferred = startUtcMs === undefined ? fromDips : (startUtcMs % 60_000) / 1000;
  const epochPhaseSeconds = secondsBelow('epoch_phase_s', 60, epoch_phase_s) ?? inferred;
  return {
    dataset: check.text('dataset', unknown),
    recordingGroup: check.text('recording_group', recordingGroup),
    ...(OWN_DATASETS.includes(dataset) && { keepsRates: true }),
    ...(location !== undefined && { location: check.text('location', '') }),
    ...(licence !== undefined && { licence: check.text('licence', '') }),
    ...(startUtcMs !== undefined && { startUtcMs }),
    ...(handoverPhaseSeconds !== undefined && { handoverPhaseSeconds }),
    ...(epochPhaseSeconds !== undefined && { epochPhaseSeconds }),
    ...(Object.keys(other).length > 0 && { other }),
  };
}

/** NaN without a zone, because Date.parse would assume the reader's own. */
function utcMsOf(text: unknown): number {
  const hasZone = typeof text === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:\d\d)$/.test(text);
  return hasZone ? Date.parse(text) : Number.NaN;
}

/** The sidecar's text; parsing it gives the same metadata. Unknown fields are left out. */
export function formatSidecar({ other, ...metadata }: TraceMetadata): string {
  const { startUtcMs, epochPhaseSeconds, handoverPhaseSeconds, location, licence } = metadata;
  const json = {
    ...{ dataset: metadata.dataset, recording_group: metadata.recordingGroup, location, licence },
    start_utc: startUtcMs === undefined ? undefined : new Date(startUtcMs).toISOString(),
    ...{ epoch_phase_s: epochPhaseSeconds, handover_phase_s: handoverPhaseSeconds, ...other },
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}
