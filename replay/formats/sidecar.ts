/** The JSON sidecar of a trace: its metadata. */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { handoverPhaseOf, type TraceMetadata } from '../trace.ts';
import { each, jsonObject, object, text, that, type ValueCheck } from './shape.ts';

export const UNKNOWN_DATASET = 'unknown';
/** Data sets that are the user's own: without a name, and what `leo-abr serve` recorded. */
const OWN_DATASETS: readonly unknown[] = [undefined, UNKNOWN_DATASET, 'recorded'];

export function defaultMetadata(traceName: string): TraceMetadata {
  return { dataset: UNKNOWN_DATASET, recordingGroup: traceName, keepsRates: true };
}

/** Metadata from the text of a sidecar; `null` means unknown, like an absent key. `file` is for messages. */
export function parseSidecar(content: string, traceName: string, file: string): TraceMetadata {
  const known = Object.entries(jsonObject(content, file)).filter(([, value]) => value !== null);
  const fields = Object.fromEntries(known);
  SIDECAR(fields, `${file}: `);
  const { dataset, recording_group, location, licence, ...clock } = fields as Sidecar;
  const { start_utc, epoch_phase_s, handover_phase_s: handoverPhaseSeconds, ...other } = clock;
  const usual = defaultMetadata(traceName);
  const startUtcMs = start_utc === undefined ? undefined : utcMsOf(start_utc);
  // Without a clock, the dips give the second of the minute modulo 15.
  const fromDips = handoverPhaseSeconds === undefined ? undefined : handoverPhaseOf(handoverPhaseSeconds);
  const inferred = startUtcMs === undefined ? fromDips : (startUtcMs % 60_000) / 1000;
  const epochPhaseSeconds = epoch_phase_s ?? inferred;
  return {
    dataset: dataset ?? usual.dataset,
    recordingGroup: recording_group ?? usual.recordingGroup,
    ...(OWN_DATASETS.includes(dataset) && { keepsRates: true }),
    ...(location !== undefined && { location }),
    ...(licence !== undefined && { licence }),
    ...(startUtcMs !== undefined && { startUtcMs }),
    ...(handoverPhaseSeconds !== undefined && { handoverPhaseSeconds }),
    ...(epochPhaseSeconds !== undefined && { epochPhaseSeconds }),
    ...(Object.keys(other).length > 0 && { other }),
  };
}

type Sidecar = Partial<Record<'dataset' | 'recording_group' | 'start_utc' | 'location' | 'licence', string>> &
  Partial<Record<'epoch_phase_s' | 'handover_phase_s', number>>;

const secondsBelow = (limit: number): ValueCheck =>
  that(`a number from 0 to below ${limit}`, (value) => typeof value === 'number' && value >= 0 && value < limit);

const SIDECAR = object({
  'start_utc?': that('a date and time like "2024-04-19T16:23:20.000Z"', (value) => !Number.isNaN(utcMsOf(value))),
  'handover_phase_s?': secondsBelow(EPOCH_SECONDS),
  'epoch_phase_s?': secondsBelow(60),
  ...each(text, 'dataset?', 'recording_group?', 'location?', 'licence?'),
});

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
