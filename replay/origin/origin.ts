/**
 * The origin as a handler of web requests: many sessions, each below `session/<id>/`; README.md lists the paths. Runs in
 * Node (`node/server.ts`), service workers and pages.
 */

import { InputError } from '../../abr/errors.ts';
import { type BlockingReload, MULTIVARIANT_PLAYLIST, UTC_PATH } from '../media/index.ts';
import type { ResolvedScenario } from '../results.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { type Clock, REAL_CLOCK } from './clock.ts';
import { deliveryHeaders } from './delivery.ts';
import { Ticker } from './paced-link.ts';
import type { ByteRange } from './range-stream.ts';
import { chunkLateness } from './request-log.ts';
import { ReplaySession, type SessionSpec } from './session.ts';
import { parseSessionRequest } from './session-request.ts';
import { LARGEST_TRACE_BYTES, parseTraceUpload, TraceShelf } from './trace-upload.ts';

export interface OriginOptions {
  /** Traces that clients may name when they create a session. Default: none. */
  traces?: readonly Trace[];
  /** Whether pages may upload traces (`POST /traces`), for all clients. Default false. */
  acceptTraces?: boolean;
  /** Scenarios that clients may name when they create a session. Default: `SCENARIOS`. */
  scenarios?: Readonly<Record<string, Scenario | ResolvedScenario>>;
  /** Beyond this number the oldest session without a transfer is deleted. Default 1000. */
  maxSessions?: number;
  /** Default: real time. */
  clock?: Clock;
  /** Path below which the origin lies, with a slash at its end. Default `/`. */
  folder?: string;
}

export interface Origin {
  /** Whether a path is one of the origin's. */
  owns(path: string): boolean;
  /**
   * Responds; 404 for a path that is not the origin's. Media responses resolve at their first byte, and reject only if
   * the request's signal aborts before.
   */
  fetch(request: Request): Promise<Response>;
  /** @throws {InputError | RangeError} for a scenario or trace that cannot be served. */
  createSession(spec: SessionSpec): ReplaySession;
  session(id: string): ReplaySession | undefined;
  /** Deletes a session; active transfers continue. */
  removeSession(id: string): void;
}

/** Headers of media responses: UTC, trace and session time of the request. Pages may read them. */
export const UTC_HEADER = 'x-trace-utc-ms';
const TRACE_SECONDS_HEADER = 'x-trace-seconds';
const SESSION_SECONDS_HEADER = 'x-session-seconds';
const EXPOSED = [UTC_HEADER, TRACE_SECONDS_HEADER, SESSION_SECONDS_HEADER, 'content-range', 'content-length', 'date'];

const OPEN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED.join(', '),
  'timing-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'no-store',
};
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
  'access-control-max-age': '86400',
};
const LARGEST_BODY_BYTES = 2 ** 20;
const DEFAULT_MAX_SESSIONS = 1000;

/** A response with status 4xx. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

export function createOrigin(options: OriginOptions = {}): Origin {
  const { scenarios = SCENARIOS, maxSessions = DEFAULT_MAX_SESSIONS, folder = '/' } = options;
  const sessions = new Map<string, ReplaySession>();
  const ticker = new Ticker(options.clock ?? REAL_CLOCK);
  const shelf = new TraceShelf(options.traces ?? []);
  const traces = shelf.byName;
  let created = 0;

  const origin: Origin = {
    createSession(spec) {
      created++;
      const session = new ReplaySession(String(created), spec, ticker);
      if (sessions.size >= maxSessions) {
        for (const [id, old] of sessions) {
          if (old.isActive) continue;
          sessions.delete(id);
          break;
        }
      }
      sessions.set(session.id, session);
      return session;
    },
    session: (id) => sessions.get(id),
    removeSession: (id) => void sessions.delete(id),
    owns(path) {
      const [root, id] = path.startsWith(folder) ? path.slice(folder.length).split('/') : [];
      return root === 'session' || (root === 'traces' && id === undefined);
    },
    fetch: (request) =>
      answer(request).catch((error: unknown) => {
        if (error === request.signal.reason) throw error;
        return refusal(request, error);
      }),
  };
  return origin;

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (!origin.owns(pathname)) throw new Refusal(404, `nothing at ${pathname}`);
    if (request.method === 'OPTIONS') {
      const asked = request.headers.get('access-control-request-headers');
      const allow = asked === null ? {} : { 'access-control-allow-headers': asked };
      return new Response(null, { status: 204, headers: { ...OPEN_HEADERS, ...PREFLIGHT_HEADERS, ...allow } });
    }
    const [root, id, ...rest] = pathname.slice(folder.length).split('/');
    const path = rest.join('/');
    if (root === 'traces') {
      if (request.method === 'POST' && options.acceptTraces === true) {
        const added = parseTraceUpload(await readBody(request, LARGEST_TRACE_BYTES));
        for (const trace of added) {
          if (!shelf.add(trace)) throw new Refusal(409, `the origin has another trace "${trace.name}"`);
        }
        return json(request, added.map(describeTrace), 201);
      }
      expectMethod(request, 'GET', 'HEAD');
      return json(request, [...traces.values()].map(describeTrace));
    }
    if (id === undefined || id === '') {
      expectMethod(request, 'POST');
      const session = origin.createSession(
        parseSessionRequest(await readBody(request), { traces, scenarios, sessions }),
      );
      const below = `${folder}session/${session.id}/`;
      const addresses = { manifest: `${below}manifest.mpd`, hls: below + MULTIVARIANT_PLAYLIST };
      return json(request, { id: session.id, ...addresses }, 201);
    }
    const session = sessions.get(id);
    if (!session) throw new Refusal(404, `no session "${id}"`);
    if (path === '' && request.method === 'DELETE') {
      sessions.delete(id);
      return new Response(null, { status: 204, headers: OPEN_HEADERS });
    }
    expectMethod(request, 'GET', 'HEAD');
    return serveFile(session, path, request);
  }
}

function describeTrace({ name, durationSeconds, metadata }: Trace) {
  const { dataset, recordingGroup, location, startUtcMs, epochPhaseSeconds } = metadata;
  // Without a clock the trace's handovers are unknown.
  const hasClock = startUtcMs !== undefined || epochPhaseSeconds !== undefined;
  return { name, dataset, recordingGroup, durationSeconds, hasClock, ...(location !== undefined && { location }) };
}

/** The files of a session that are neither paced nor logged. */
const DOCUMENTS: ReadonlyMap<string, { contentType: string; body(session: ReplaySession): string }> = new Map([
  ['manifest.mpd', { contentType: 'application/dash+xml', body: (session) => session.manifest() }],
  ['sizes.json', { contentType: 'application/json', body: ({ presentation }) => JSON.stringify(presentation.sizes) }],
  ['time', { contentType: 'text/plain', body: ({ utcMs }) => String(utcMs) }],
  [UTC_PATH, { contentType: 'text/plain', body: ({ utcMs }) => new Date(Math.round(utcMs)).toISOString() }],
  ['log', { contentType: 'application/json', body: ({ log }) => JSON.stringify(log) }],
  ['lateness', { contentType: 'application/json', body: ({ log }) => JSON.stringify(chunkLateness(log)) }],
  ['link', { contentType: 'application/json', body: ({ publishedLink }) => JSON.stringify(publishedLink) }],
]);

async function serveFile(session: ReplaySession, path: string, request: Request): Promise<Response> {
  const document = DOCUMENTS.get(path);
  if (document) return respond(request, { contentType: document.contentType, body: document.body(session) });
  const playlist = path.endsWith('.m3u8') ? await session.playlist(path, blockingReload(request)) : undefined;
  if (playlist !== undefined) return respond(request, { contentType: 'application/vnd.apple.mpegurl', body: playlist });
  const file = session.presentation.find(path);
  if (!file) throw new Refusal(404, `no "${path}" in session ${session.id}`);
  const early = session.secondsUntil(file);
  if (early > 0) throw new Refusal(404, `"${path}" does not exist yet; request it in ${early.toFixed(3)} s`);

  const length = file.body.length;
  const range = parseRange(request.headers.get('range'), length);
  let { delivery = 'length' } = session.spec;
  if (!session.isComplete(file, range.end) && (delivery === 'length' || delivery === 'cacheable')) delivery = 'chunked';
  const headers = {
    ...OPEN_HEADERS,
    'content-type': file.contentType,
    'accept-ranges': 'bytes',
    ...(range.isPart && { 'content-range': `bytes ${range.start}-${range.end - 1}/${length}` }),
    ...deliveryHeaders(delivery, range.end - range.start),
  };
  const status = range.isPart ? 206 : 200;
  if (request.method === 'HEAD') return new Response(null, { status, headers });
  const { body, requestedAtSeconds } = await session.serve(file, range, { path, signal: request.signal });
  const times = {
    [UTC_HEADER]: session.utcMsAt(requestedAtSeconds).toFixed(3),
    [TRACE_SECONDS_HEADER]: (session.startSeconds + requestedAtSeconds).toFixed(6),
    [SESSION_SECONDS_HEADER]: requestedAtSeconds.toFixed(6),
  };
  return new Response(body, { status, headers: { ...headers, ...times } });
}

function blockingReload({ url }: Request): BlockingReload | undefined {
  const query = new URL(url).searchParams;
  const numberOf = (name: string) => {
    const value = query.get(name);
    if (value !== null && !/^\d+$/.test(value)) throw new InputError(name, 'a whole number', value);
    return value === null ? undefined : Number(value);
  };
  const mediaSequence = numberOf('_HLS_msn');
  const part = numberOf('_HLS_part');
  return mediaSequence === undefined ? undefined : { mediaSequence, ...(part !== undefined && { part }) };
}

/**
 * A single range as in RFC 9110, `end` exclusive; the whole file if there is no range, an invalid one or several.
 * Throws a 416 for a range outside the file.
 */
function parseRange(header: string | null, length: number): ByteRange & { isPart: boolean } {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  const [from, to] = [match?.[1] ?? '', match?.[2] ?? ''];
  if (!match || (from === '' && to === '') || (from !== '' && to !== '' && Number(to) < Number(from))) {
    return { start: 0, end: length, isPart: false };
  }
  const start = from === '' ? Math.max(0, length - Number(to)) : Number(from);
  const end = from === '' || to === '' ? length : Math.min(length, Number(to) + 1);
  if (start >= end) {
    throw new Refusal(416, `range ${header} is outside of ${length} bytes`, { 'content-range': `bytes */${length}` });
  }
  return { start, end, isPart: true };
}

function expectMethod({ method }: Request, ...allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  throw new Refusal(405, `expected ${allowed.join(' or ')}, got ${method}`, { allow: allowed.join(', ') });
}

async function readBody({ body }: Request, largestBytes = LARGEST_BODY_BYTES): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  let text = '';
  let length = 0;
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return text + decoder.decode();
    length += value.length;
    if (length > largestBytes) throw new Refusal(413, `expected a body of at most ${largestBytes} bytes`);
    text += decoder.decode(value, { stream: true });
  }
}

interface Answer {
  contentType: string;
  body: string;
  status?: number;
  headers?: Record<string, string>;
}

function respond(request: Request, { contentType, body, status = 200, headers }: Answer): Response {
  const bytes = new TextEncoder().encode(body);
  const own = { 'content-type': `${contentType}; charset=utf-8`, 'content-length': String(bytes.length) };
  return new Response(request.method === 'HEAD' ? null : bytes, {
    status,
    headers: { ...OPEN_HEADERS, ...headers, ...own },
  });
}

const json = (request: Request, value: unknown, status = 200): Response =>
  respond(request, { contentType: 'application/json', body: JSON.stringify(value), status });

/** `{"error": "..."}`. */
function refusal(request: Request, error: unknown): Response {
  const isInput = error instanceof InputError || error instanceof RangeError;
  const { status, headers } = error instanceof Refusal ? error : { status: isInput ? 400 : 500, headers: {} };
  const body = JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
  return respond(request, { contentType: 'application/json', body, status, headers });
}
