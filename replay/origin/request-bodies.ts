/** Parses the bodies of POST requests: sessions to create, and traces to upload. */

import { check, InputError, isFrom } from '../../abr/errors.ts';
import { jsonObject } from '../formats/shape.ts';
import { defaultMetadata, parseSidecar } from '../formats/sidecar.ts';
import { parseTraces, traceNameOf } from '../formats/trace-format.ts';
import type { ResolvedScenario } from '../results.ts';
import type { Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import type { ReplaySession, SessionSpec } from './session.ts';

/** Holds a trace of a day, in samples of a second with all columns. */
export const LARGEST_BODY_BYTES = 8 * 2 ** 20;

/** Sums of seconds and steps stay exact below. */
const MOST_SECONDS = 1e9;

const SESSION_FIELDS = ['trace', 'scenario', 'startSeconds', 'link'];

/** Parses `{"trace": name, "scenario": name, "startSeconds"?: 0, "link"?: id of a session}`. @throws {InputError} */
export function parseSessionRequest(
  text: string,
  known: {
    traces: ReadonlyMap<string, Trace>;
    scenarios: Readonly<Record<string, Scenario | ResolvedScenario>>;
    sessions: ReadonlyMap<string, ReplaySession>;
  },
): SessionSpec {
  const request = jsonObject(text, 'body');
  const unknown = Object.keys(request).find((key) => !SESSION_FIELDS.includes(key));
  if (unknown !== undefined) throw new InputError(unknown, `one of ${SESSION_FIELDS.join(', ')}`, request[unknown]);
  const { startSeconds = 0, link } = request;
  check(isFrom(startSeconds, 0, MOST_SECONDS), 'startSeconds', `a number from 0 to ${MOST_SECONDS}`, startSeconds);
  return {
    trace: named('trace', request, known.traces),
    scenario: named('scenario', request, new Map(Object.entries(known.scenarios))),
    startSeconds,
    ...(link !== undefined && { link: named('link', request, known.sessions) }),
  };
}

/** Parses `{"file": "name.csv", "text": "...", "sidecar"?: "..."}`; gaps give several traces. @throws {InputError} */
export function parseTraceUpload(body: string): Trace[] {
  const { file, text, sidecar } = jsonObject(body, 'body');
  const name = typeof file === 'string' ? traceNameOf(file) : '';
  check(typeof file === 'string' && name !== '', 'file', 'the name of a file', file);
  check(typeof text === 'string', 'text', 'a text', text);
  check(sidecar === undefined || typeof sidecar === 'string', 'sidecar', 'a text', sidecar);
  const metadata = sidecar === undefined ? defaultMetadata(name) : parseSidecar(sidecar, name, `${name}.json`);
  return parseTraces(text, { name, file, metadata });
}

function named<T>(field: string, request: Record<string, unknown>, known: ReadonlyMap<string, T>): T {
  const found = known.get(String(request[field]));
  if (found !== undefined) return found;
  throw new InputError(field, `one of ${[...known.keys()].join(', ') || '(none available)'}`, request[field]);
}
