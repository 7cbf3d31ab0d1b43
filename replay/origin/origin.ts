/** The origin as a handler of web requests; README.md lists the paths. Runs in Node, workers and pages. */

import type { Clip } from '../media/fixture.ts';
import { MULTIVARIANT_PLAYLIST } from '../media/playlists.ts';
import type { ResolvedScenario } from '../results.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { expectMethod, json, OPEN_HEADERS, Refusal, refusal } from './answers.ts';
import { REAL_CLOCK, type TimerClock } from './clock.ts';
import { LARGEST_BODY_BYTES, parseSessionRequest, parseTraceUpload } from './request-bodies.ts';
import { serveFile } from './serve-file.ts';
import { ReplaySession, type SessionSpec } from './session.ts';

export interface OriginOptions {
  /** Traces that clients may name when they create a session. Default: none. */
  traces?: readonly Trace[];
  /** Whether pages may upload traces (`POST /traces`), for all clients. Default false. */
  acceptTraces?: boolean;
  /** Scenarios that clients may name when they create a session. Default: `SCENARIOS`. */
  scenarios?: Readonly<Record<string, Scenario | ResolvedScenario>>;
  /** Pictures of the sessions that clients create, per representation. Default: the test pictures. */
  clips?: readonly Clip[];
  clock?: TimerClock;
  /** Path below which the origin lies, with a slash at its end. Default `/`. */
  folder?: string;
}

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
  'access-control-max-age': '86400',
};
/** The files of new sessions by the fixed paths that lead to them. */
const STREAMS: Readonly<Record<string, string>> = {
  'stream.mpd': 'manifest.mpd',
  'stream.m3u8': MULTIVARIANT_PLAYLIST,
};
/** If there are more sessions, the oldest session without a transfer is deleted. */
const MOST_SESSIONS = 1000;
const MOST_UPLOADED = 50;

export class Origin {
  private readonly _options: Required<Pick<OriginOptions, 'scenarios' | 'folder' | 'acceptTraces' | 'clips'>>;
  private readonly _clock: TimerClock;
  private readonly _sessions = new Map<string, ReplaySession>();
  /** The origin's own traces, then the uploads, by name. */
  private readonly _traces: Map<string, Trace>;
  private readonly _ownTraces: ReadonlySet<string>;
  private _created = 0;

  constructor(options: OriginOptions = {}) {
    const { scenarios = SCENARIOS, folder = '/', acceptTraces = false, clips = [] } = options;
    const { traces = [], clock = REAL_CLOCK } = options;
    this._options = { scenarios, folder, acceptTraces, clips };
    this._clock = clock;
    this._traces = new Map(traces.map((trace) => [trace.name, trace]));
    this._ownTraces = new Set(this._traces.keys());
  }

  /** @throws {InputError | RangeError} for a scenario or trace that cannot be served */
  createSession(spec: SessionSpec): ReplaySession {
    const session = new ReplaySession(String(++this._created), spec, this._clock);
    if (this._sessions.size >= MOST_SESSIONS) {
      const oldest = [...this._sessions.values()].find(({ isActive }) => !isActive);
      if (oldest) this._sessions.delete(oldest.id);
    }
    this._sessions.set(session.id, session);
    return session;
  }

  session(id: string): ReplaySession | undefined {
    return this._sessions.get(id);
  }

  /** Deletes a session; active transfers continue. */
  removeSession(id: string): void {
    this._sessions.delete(id);
  }

  owns(path: string): boolean {
    const [root, id] = this._partsOf(path);
    return root === 'session' || (id === undefined && (root === 'traces' || Object.hasOwn(STREAMS, root!)));
  }

  /** Answers 404 for a foreign path. Resolves media at the first byte. Rejects only if the request aborts before. */
  async fetch(request: Request): Promise<Response> {
    try {
      return await this._answer(request);
    } catch (error) {
      if (error === request.signal.reason) throw error;
      return refusal(error);
    }
  }

  private _partsOf(path: string): string[] {
    const { folder } = this._options;
    return path.startsWith(folder) ? path.slice(folder.length).split('/') : [];
  }

  private async _answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (!this.owns(pathname)) throw new Refusal(404, `nothing at ${pathname}`);
    if (request.method === 'OPTIONS') {
      const asked = request.headers.get('access-control-request-headers');
      const allow = asked === null ? {} : { 'access-control-allow-headers': asked };
      return new Response(null, { status: 204, headers: { ...OPEN_HEADERS, ...PREFLIGHT_HEADERS, ...allow } });
    }
    const [root = '', id = '', ...rest] = this._partsOf(pathname);
    if (Object.hasOwn(STREAMS, root)) return this._redirectToNew(STREAMS[root]!, request, searchParams);
    if (root === 'traces') return this._answerTraces(request);
    if (id === '') return this._answerCreation(request);
    const session = this._sessions.get(id);
    if (!session) throw new Refusal(404, `no session "${id}"`);
    const path = rest.join('/');
    if (path === '' && request.method === 'DELETE') {
      this.removeSession(id);
      return new Response(null, { status: 204, headers: OPEN_HEADERS });
    }
    expectMethod(request, 'GET', 'HEAD');
    return serveFile(session, path, request);
  }

  private _redirectToNew(file: string, request: Request, query: URLSearchParams): Response {
    expectMethod(request, 'GET', 'HEAD');
    const { scenarios, folder } = this._options;
    const asked = {
      trace: query.get('trace') ?? [...this._traces.keys()][0],
      scenario: query.get('scenario') ?? Object.keys(scenarios)[0],
      startSeconds: Number(query.get('startSeconds') ?? 0),
    };
    const { id } = this._createAsked(JSON.stringify(asked));
    return new Response(null, {
      status: 302,
      headers: { ...OPEN_HEADERS, location: `${folder}session/${id}/${file}` },
    });
  }

  private _createAsked(body: string): ReplaySession {
    const { scenarios, clips } = this._options;
    const spec = parseSessionRequest(body, { traces: this._traces, scenarios, sessions: this._sessions });
    return this.createSession({ ...spec, media: { clips } });
  }

  private async _answerTraces(request: Request): Promise<Response> {
    const { acceptTraces } = this._options;
    if (!acceptTraces || request.method !== 'POST') {
      expectMethod(request, 'GET', 'HEAD');
      return json([...this._traces.values()].map(describeTrace));
    }
    const added = parseTraceUpload(await readBody(request));
    for (const trace of added) this._addTrace(trace);
    return json(added.map(describeTrace), 201);
  }

  private _addTrace(trace: Trace): void {
    if (this._ownTraces.has(trace.name)) throw new Refusal(409, `the origin has another trace "${trace.name}"`);
    this._traces.delete(trace.name);
    const uploaded = [...this._traces.keys()].slice(this._ownTraces.size);
    if (uploaded.length >= MOST_UPLOADED) this._traces.delete(uploaded[0]!);
    this._traces.set(trace.name, trace);
  }

  private async _answerCreation(request: Request): Promise<Response> {
    expectMethod(request, 'POST');
    const { id } = this._createAsked(await readBody(request));
    const below = `${this._options.folder}session/${id}/`;
    return json({ id, manifest: `${below}manifest.mpd`, hls: below + MULTIVARIANT_PLAYLIST }, 201);
  }
}

function describeTrace({ name, durationSeconds, metadata }: Trace) {
  const { dataset, recordingGroup, location, startUtcMs, epochPhaseSeconds, keepsRates } = metadata;
  // Without a clock the trace's handovers are unknown.
  const hasClock = startUtcMs !== undefined || epochPhaseSeconds !== undefined;
  const own = { ...(location !== undefined && { location }), ...(keepsRates && { keepsRates }) };
  return { name, dataset, recordingGroup, durationSeconds, hasClock, ...own };
}

async function readBody(request: Request): Promise<string> {
  // Firefox has no stream of a request's body. In Firefox only the site's own page sends bodies.
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
