/** The origin's HTTP server: many sessions, each below `/session/<id>/`. Node only; README.md lists the paths. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { InputError } from '../../abr/errors.ts';
import { type BlockingReload, MULTIVARIANT_PLAYLIST, UTC_PATH } from '../media/index.ts';
import type { ResolvedScenario } from '../results.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { type Clock, REAL_CLOCK } from './clock.ts';
import { beginBody, deliveryHeaders } from './delivery.ts';
import { Ticker } from './paced-link.ts';
import { chunkLateness } from './request-log.ts';
import { requestPath } from './request-path.ts';
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
  /** Default: a free one. */
  port?: number;
  /** Default: 127.0.0.1. */
  host?: string;
  /** A listening socket, maybe in another network namespace; replaces `port` and `host`. */
  socket?: NetServer;
  /** Responds to paths that are not the origin's; returns whether it did. */
  fallback?(request: IncomingMessage, response: ServerResponse): boolean;
}

interface Origin {
  /** Responds to `/session...` and `/traces`; returns false for any other path. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** @throws {InputError | RangeError} for a scenario or trace that cannot be served. */
  createSession(spec: SessionSpec): ReplaySession;
  session(id: string): ReplaySession | undefined;
  /** Deletes a session; active transfers continue. */
  removeSession(id: string): void;
}

/** An origin that listens. */
export interface RunningOrigin extends Origin {
  /** Without a trailing slash. */
  url: string;
  port: number;
  /** The URL of a session's manifest. */
  manifestUrl(session: ReplaySession): string;
  /** Closes all connections and stops listening. */
  close(): Promise<void>;
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
/** Longer than a player with a full buffer waits, so that no request is sent on a connection that is closing. */
const KEEP_ALIVE_MS = 10 * 60_000;

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

function createOrigin(options: OriginOptions): Origin {
  const sessions = new Map<string, ReplaySession>();
  const ticker = new Ticker(options.clock ?? REAL_CLOCK);
  const shelf = new TraceShelf(options.traces ?? []);
  const traces = shelf.byName;
  const scenarios = options.scenarios ?? SCENARIOS;
  const maxSessions = options.maxSessions ?? DEFAULT_MAX_SESSIONS;
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
    handle(request, response) {
      const path = requestPath(request);
      const [, root, id, ...rest] = path.split('/');
      if (root !== 'session' && path !== '/traces') return false;
      answer(request, response, { root: root!, id, path: rest.join('/') }).catch((error: unknown) =>
        refuse(request, response, error),
      );
      return true;
    },
  };
  return origin;

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    { root, id, path }: { root: string; id: string | undefined; path: string },
  ): Promise<void> {
    if (request.method === 'OPTIONS') {
      const asked = request.headers['access-control-request-headers'];
      const allow = asked === undefined ? {} : { 'access-control-allow-headers': asked };
      response.writeHead(204, { ...OPEN_HEADERS, ...PREFLIGHT_HEADERS, ...allow }).end();
      return;
    }
    if (root === 'traces') {
      if (request.method === 'POST' && options.acceptTraces === true) {
        const added = parseTraceUpload(await readBody(request, LARGEST_TRACE_BYTES));
        for (const trace of added) {
          if (!shelf.add(trace)) throw new Refusal(409, `the origin has another trace "${trace.name}"`);
        }
        const body = JSON.stringify(added.map(describeTrace));
        respond(request, response, { contentType: 'application/json', body, status: 201 });
        return;
      }
      expectMethod(request, 'GET', 'HEAD');
      const body = JSON.stringify([...traces.values()].map(describeTrace));
      respond(request, response, { contentType: 'application/json', body });
      return;
    }
    if (id === undefined || id === '') {
      expectMethod(request, 'POST');
      const spec = parseSessionRequest(await readBody(request), { traces, scenarios });
      const session = origin.createSession(spec);
      const folder = `/session/${session.id}`;
      const addresses = { manifest: `${folder}/manifest.mpd`, hls: `${folder}/${MULTIVARIANT_PLAYLIST}` };
      const body = JSON.stringify({ id: session.id, ...addresses });
      respond(request, response, { contentType: 'application/json', body, status: 201 });
      return;
    }
    const session = sessions.get(id);
    if (!session) throw new Refusal(404, `no session "${id}"`);
    if (path === '' && request.method === 'DELETE') {
      sessions.delete(id);
      response.writeHead(204, OPEN_HEADERS).end();
      return;
    }
    expectMethod(request, 'GET', 'HEAD');
    await serveFile(session, path, request, response);
  }
}

/** Starts a server. Rejects if it cannot listen. */
export async function startOrigin(options: OriginOptions = {}): Promise<RunningOrigin> {
  const { port = 0, host = '127.0.0.1', socket, fallback } = options;
  const origin = createOrigin(options);
  const server: Server = createServer({ noDelay: true, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    try {
      if (origin.handle(request, response) || fallback?.(request, response)) return;
      refuse(request, response, new Refusal(404, `nothing at ${request.url}`));
    } catch (error) {
      refuse(request, response, error);
    }
  });
  // No limit: the trace determines the duration of downloads.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (socket === undefined) server.listen(port, host, resolve);
    else server.listen(socket, resolve);
  });
  const { port: listening, family, address } = server.address() as AddressInfo;
  const name = socket === undefined ? host : address;
  const url = `http://${family === 'IPv6' ? `[${name}]` : name}:${listening}`;
  return {
    ...origin,
    url,
    port: listening,
    manifestUrl: ({ id }) => `${url}/session/${id}/manifest.mpd`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
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

async function serveFile(
  session: ReplaySession,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const document = DOCUMENTS.get(path);
  if (document) {
    respond(request, response, { contentType: document.contentType, body: document.body(session) });
    return;
  }
  const playlist = path.endsWith('.m3u8') ? await session.playlist(path, blockingReload(request)) : undefined;
  if (playlist !== undefined) {
    respond(request, response, { contentType: 'application/vnd.apple.mpegurl', body: playlist });
    return;
  }
  const file = session.presentation.find(path);
  if (!file) throw new Refusal(404, `no "${path}" in session ${session.id}`);
  const early = session.secondsUntil(file);
  if (early > 0) throw new Refusal(404, `"${path}" does not exist yet; request it in ${early.toFixed(3)} s`);

  const length = file.body.length;
  const range = parseRange(request.headers.range, length);
  let { delivery = 'length' } = session.spec;
  if (!session.isComplete(file, range.end) && (delivery === 'length' || delivery === 'cacheable')) delivery = 'chunked';
  const head = {
    ...OPEN_HEADERS,
    'content-type': file.contentType,
    'accept-ranges': 'bytes',
    ...(range.isPart && { 'content-range': `bytes ${range.start}-${range.end - 1}/${length}` }),
    ...deliveryHeaders(delivery, range.end - range.start),
  };
  const status = range.isPart ? 206 : 200;
  if (request.method === 'HEAD') {
    response.writeHead(status, head).end();
    return;
  }
  session.serve(file, range, response, {
    path,
    begin: (requestedAtSeconds) =>
      beginBody(response, delivery, status, {
        ...head,
        [UTC_HEADER]: session.utcMsAt(requestedAtSeconds).toFixed(3),
        [TRACE_SECONDS_HEADER]: (session.startSeconds + requestedAtSeconds).toFixed(6),
        [SESSION_SECONDS_HEADER]: requestedAtSeconds.toFixed(6),
      }),
  });
}

function blockingReload({ url = '' }: IncomingMessage): BlockingReload | undefined {
  const query = new URLSearchParams(url.split('?')[1]);
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
function parseRange(header: string | undefined, length: number): { start: number; end: number; isPart: boolean } {
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

function expectMethod(request: IncomingMessage, ...allowed: readonly string[]): void {
  if (allowed.includes(request.method ?? '')) return;
  throw new Refusal(405, `expected ${allowed.join(' or ')}, got ${request.method}`, { allow: allowed.join(', ') });
}

async function readBody(request: IncomingMessage, largestBytes = LARGEST_BODY_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > largestBytes) throw new Refusal(413, `expected a body of at most ${largestBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface Answer {
  contentType: string;
  body: string;
  status?: number;
  headers?: Record<string, string>;
}

function respond(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const bytes = Buffer.from(answer.body);
  response.writeHead(answer.status ?? 200, {
    ...OPEN_HEADERS,
    ...answer.headers,
    'content-type': `${answer.contentType}; charset=utf-8`,
    'content-length': bytes.length,
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Responds with `{"error": "..."}`. */
function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const isInput = error instanceof InputError || error instanceof RangeError;
  const { status, headers } = error instanceof Refusal ? error : { status: isInput ? 400 : 500, headers: {} };
  const body = JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
  respond(request, response, { contentType: 'application/json', body, status, headers });
}
