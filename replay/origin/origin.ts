/** The origin as a handler of web requests; README.md lists the paths. Runs in Node, workers and pages. */

import { InputError } from '../../abr/errors.ts';
import { UTC_PATH } from '../media/manifest.ts';
import { type BlockingReload, MULTIVARIANT_PLAYLIST } from '../media/playlists.ts';
import type { ResolvedScenario } from '../results.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { type Clock, REAL_CLOCK } from './clock.ts';
import { deliveryHeaders } from './delivery.ts';
import type { ByteRange } from './range-stream.ts';
import { LARGEST_BODY_BYTES, parseSessionRequest, parseTraceUpload } from './request-bodies.ts';
import { ReplaySession, type SessionSpec } from './session.ts';

export interface OriginOptions {
  /** Traces that clients may name when they create a session. Default: none. */
  traces?: readonly Trace[];
  /** Whether pages may upload traces (`POST /traces`), for all clients. Default false. */
  acceptTraces?: boolean;
  /** Scenarios that clients may name when they create a session. Default: `SCENARIOS`. */
  scenarios?: Readonly<Record<string, Scenario | ResolvedScenario>>;
  clock?: Clock;
  /** Path below which the origin lies, with a slash at its end. Default `/`. */
  folder?: string;
}

/** Headers of media responses: trace and session time of the request. Pages may read them. */
const TRACE_SECONDS_HEADER = 'x-trace-seconds';
const SESSION_SECONDS_HEADER = 'x-session-seconds';
const EXPOSED = [TRACE_SECONDS_HEADER, SESSION_SECONDS_HEADER, 'content-range', 'content-length', 'date'];

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
/** Beyond this number the oldest session without a transfer is deleted. */
const MOST_SESSIONS = 1000;
const MOST_UPLOADED = 50;

class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

export class Origin {
  readonly #options: Required<Pick<OriginOptions, 'scenarios' | 'folder'>> & { acceptTraces: boolean };
  readonly #clock: Clock;
  readonly #sessions = new Map<string, ReplaySession>();
  /** The own ones and the uploads, by name; the own ones are first. */
  readonly #traces: Map<string, Trace>;
  readonly #ownTraces: ReadonlySet<string>;
  #created = 0;

  constructor(options: OriginOptions = {}) {
    const { scenarios = SCENARIOS, folder = '/', acceptTraces = false, traces = [], clock = REAL_CLOCK } = options;
    this.#options = { scenarios, folder, acceptTraces };
    this.#clock = clock;
    this.#traces = new Map(traces.map((trace) => [trace.name, trace]));
    this.#ownTraces = new Set(this.#traces.keys());
  }

  /** @throws {InputError | RangeError} for a scenario or trace that cannot be served */
  createSession(spec: SessionSpec): ReplaySession {
    const session = new ReplaySession(String(++this.#created), spec, this.#clock);
    if (this.#sessions.size >= MOST_SESSIONS) {
      const oldest = [...this.#sessions.values()].find(({ isActive }) => !isActive);
      if (oldest) this.#sessions.delete(oldest.id);
    }
    this.#sessions.set(session.id, session);
    return session;
  }

  session(id: string): ReplaySession | undefined {
    return this.#sessions.get(id);
  }

  /** Deletes a session; active transfers continue. */
  removeSession(id: string): void {
    this.#sessions.delete(id);
  }

  owns(path: string): boolean {
    const [root, id] = this.#partsOf(path);
    return root === 'session' || (root === 'traces' && id === undefined);
  }

  /** 404 for a foreign path. Media resolve at the first byte; rejects only if the request aborts before. */
  async fetch(request: Request): Promise<Response> {
    try {
      return await this.#answer(request);
    } catch (error) {
      if (error === request.signal.reason) throw error;
      return refusal(error);
    }
  }

  #partsOf(path: string): string[] {
    const { folder } = this.#options;
    return path.startsWith(folder) ? path.slice(folder.length).split('/') : [];
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (!this.owns(pathname)) throw new Refusal(404, `nothing at ${pathname}`);
    if (request.method === 'OPTIONS') {
      const asked = request.headers.get('access-control-request-headers');
      const allow = asked === null ? {} : { 'access-control-allow-headers': asked };
      return new Response(null, { status: 204, headers: { ...OPEN_HEADERS, ...PREFLIGHT_HEADERS, ...allow } });
    }
    const [root, id = '', ...rest] = this.#partsOf(pathname);
    if (root === 'traces') return this.#answerTraces(request);
    if (id === '') return this.#answerCreation(request);
    const session = this.#sessions.get(id);
    if (!session) throw new Refusal(404, `no session "${id}"`);
    const path = rest.join('/');
    if (path === '' && request.method === 'DELETE') {
      this.removeSession(id);
      return new Response(null, { status: 204, headers: OPEN_HEADERS });
    }
    expectMethod(request, 'GET', 'HEAD');
    return serveFile(session, path, request);
  }

  async #answerTraces(request: Request): Promise<Response> {
    const { acceptTraces } = this.#options;
    if (!acceptTraces || request.method !== 'POST') {
      expectMethod(request, 'GET', 'HEAD');
      return json([...this.#traces.values()].map(describeTrace));
    }
    const added = parseTraceUpload(await readBody(request));
    for (const trace of added) this.#addTrace(trace);
    return json(added.map(describeTrace), 201);
  }

  #addTrace(trace: Trace): void {
    if (this.#ownTraces.has(trace.name)) throw new Refusal(409, `the origin has another trace "${trace.name}"`);
    this.#traces.delete(trace.name);
    const uploaded = [...this.#traces.keys()].slice(this.#ownTraces.size);
    if (uploaded.length >= MOST_UPLOADED) this.#traces.delete(uploaded[0]!);
    this.#traces.set(trace.name, trace);
  }

  async #answerCreation(request: Request): Promise<Response> {
    expectMethod(request, 'POST');
    const { scenarios, folder } = this.#options;
    const catalogue = { traces: this.#traces, scenarios };
    const { id } = this.createSession(parseSessionRequest(await readBody(request), catalogue));
    const below = `${folder}session/${id}/`;
    return json({ id, manifest: `${below}manifest.mpd`, hls: below + MULTIVARIANT_PLAYLIST }, 201);
  }
}

function describeTrace({ name, durationSeconds, metadata }: Trace) {
  const { dataset, recordingGroup, location, startUtcMs, epochPhaseSeconds } = metadata;
  // Without a clock the trace's handovers are unknown.
  const hasClock = startUtcMs !== undefined || epochPhaseSeconds !== undefined;
  return { name, dataset, recordingGroup, durationSeconds, hasClock, ...(location !== undefined && { location }) };
}

const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain';

/** The files of a session that are neither paced nor logged. */
const DOCUMENTS = new Map<string, [contentType: string, bodyOf: (session: ReplaySession) => string]>([
  ['manifest.mpd', ['application/dash+xml', (session) => session.manifest()]],
  ['sizes.json', [JSON_TYPE, ({ presentation }) => JSON.stringify(presentation.sizes)]],
  ['time', [TEXT_TYPE, ({ utcMs }) => String(utcMs)]],
  [UTC_PATH, [TEXT_TYPE, ({ utcMs }) => new Date(Math.round(utcMs)).toISOString()]],
  ['log', [JSON_TYPE, ({ log }) => JSON.stringify(log)]],
  ['link', [JSON_TYPE, ({ publishedLink }) => JSON.stringify(publishedLink)]],
]);

async function serveFile(session: ReplaySession, path: string, request: Request): Promise<Response> {
  const [contentType, bodyOf] = DOCUMENTS.get(path) ?? [];
  if (contentType && bodyOf) return textResponse(contentType, bodyOf(session));
  const playlist = path.endsWith('.m3u8') ? await session.playlist(path, blockingReload(request)) : undefined;
  if (playlist !== undefined) return textResponse('application/vnd.apple.mpegurl', playlist);
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

/** A single range (RFC 9110), `end` exclusive, else the whole file. Throws a 416 for one outside it. */
function parseRange(header: string | null, length: number): ByteRange & { isPart: boolean } {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if ((from === '' && to === '') || (from !== '' && to !== '' && Number(to) < Number(from))) {
    return { start: 0, end: length, isPart: false };
  }
  const start = from === '' ? Math.max(0, length - Number(to)) : Number(from);
  const end = from === '' || to === '' ? length : Math.min(length, Number(to) + 1);
  if (start < end) return { start, end, isPart: true };
  throw new Refusal(416, `range ${header} is outside of ${length} bytes`, { 'content-range': `bytes */${length}` });
}

function expectMethod({ method }: Request, ...allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  throw new Refusal(405, `expected ${allowed.join(' or ')}, got ${method}`, { allow: allowed.join(', ') });
}

async function readBody(request: Request): Promise<string> {
  // Firefox does not show a request's body as a stream; there, only the page of the site asks.
  if (!request.body) return request.text();
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { value } = await reader.read();
    if (value === undefined) return new Blob(pieces as BlobPart[]).text();
    pieces.push(value);
    length += value.length;
    if (length > LARGEST_BODY_BYTES) throw new Refusal(413, `expected a body of at most ${LARGEST_BODY_BYTES} bytes`);
  }
}

function textResponse(contentType: string, body: string, { status = 200, headers = {} } = {}): Response {
  const type = { 'content-type': `${contentType}; charset=utf-8` };
  return new Response(body, { status, headers: { ...OPEN_HEADERS, ...headers, ...type } });
}

const json = (value: unknown, status = 200): Response => textResponse(JSON_TYPE, JSON.stringify(value), { status });

function refusal(error: unknown): Response {
  const isInput = error instanceof InputError || error instanceof RangeError;
  const { status, headers } = error instanceof Refusal ? error : { status: isInput ? 400 : 500, headers: {} };
  const body = JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
  return textResponse(JSON_TYPE, body, { status, headers });
}
