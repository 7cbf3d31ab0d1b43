/** The HTTP side of the service: routes, limits, who may talk to it. What is answered comes from a `ServiceView`. */

import cors from '@fastify/cors';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { describeValue } from '../../abr/errors.ts';
import type { Clock } from '../clock.ts';
import type { EventLog } from './event-log.ts';
import type { EventStream } from './event-stream.ts';
import type { Metrics } from './metrics.ts';
import { openApiDocument } from './openapi.ts';
import { RateLimit, type RateLimitOptions } from './rate-limit.ts';
import { OBSERVATIONS_REQUEST } from './schemas.ts';
import { isHostAllowed, isOriginAllowed, isTokenRight, type SecurityOptions } from './security.ts';
import {
  EVENT_TYPES,
  type ForecastReply,
  type HandoversReply,
  type ObservationsReply,
  type ObservationsRequest,
  type StateReply,
} from './wire.ts';

/** What the API shows. None of these may throw or wait. */
export interface ServiceView {
  forecast(): ForecastReply;
  handovers(): HandoversReply;
  state(): StateReply;
  /** Undefined where there are too many players. */
  observe(request: ObservationsRequest): ObservationsReply | undefined;
}

export interface ApiLimits {
  /** Largest body in bytes. */
  bodyBytes: number;
  /** Requests per address. */
  rate: RateLimitOptions;
  /** TCP connections at once; further ones are refused. */
  connections: number;
  /** Event streams at once. */
  subscribers: number;
  /** A request has to be in within so long, headers and body: a half-open connection takes a place no longer. */
  requestTimeoutMs: number;
}

export const DEFAULT_LIMITS: ApiLimits = {
  bodyBytes: 64 * 1024,
  rate: { perSecond: 50, burst: 200 },
  connections: 1024,
  subscribers: 600,
  requestTimeoutMs: 10_000,
};

export interface ApiOptions {
  view: ServiceView;
  log: EventLog;
  stream: EventStream;
  metrics: Metrics;
  security: SecurityOptions;
  limits: ApiLimits;
  clock: Clock;
  version: string;
  /** PEM; undefined: plain HTTP. */
  tls?: { cert: string; key: string } | undefined;
  /** Told of faults of the program. Default: nobody. */
  onFault?: (error: Error) => void;
}

/** A connection on which nothing moves; event streams have heartbeats. */
const IDLE_TIMEOUT_MS = 60_000;
/** Longer than the pause between two reports of a player. */
const KEEP_ALIVE_MS = 30_000;
/** TCP asks a peer that is silent for so long whether it is still there. */
const TCP_KEEP_ALIVE_MS = 30_000;
const CHECK_MS = 2000;

const EVENTS = '/v1/events';
const HEALTH = '/healthz';

/** Does not listen yet. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { view, log, stream, metrics, security, limits, clock, tls } = options;
  const { requestTimeoutMs } = limits;
  const timeouts = {
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, requestTimeoutMs),
  };
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: IDLE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 64 },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
    ...(tls === undefined ? { http: timeouts } : { https: { ...tls, ...timeouts } }),
  }) as unknown as FastifyInstance;
  app.server.maxConnections = limits.connections;
  app.removeContentTypeParser('text/plain');

  guard(app, { security, clock, rate: new RateLimit(limits.rate) });
  await app.register(cors, {
    origin: (origin, done) => done(null, origin !== undefined && isOriginAllowed(origin, security)),
    methods: ['GET', 'POST'],
    allowedHeaders: ['authorization', 'content-type', 'last-event-id'],
    exposedHeaders: ['retry-after'],
    maxAge: 600,
  });
  const { token } = security;
  app.addHook('onRequest', async (request, reply) => {
    if (token === undefined || request.url === HEALTH) return;
    if (isTokenRight(request.headers.authorization, token)) return;
    reply.header('www-authenticate', 'Bearer');
    return refuse(reply, { status: 401, code: 'unauthorized', message: 'expected the bearer token of the service' });
  });
  count(app, metrics);
  answerErrors(app, options.onFault ?? (() => {}));

  app.get('/v1/forecast', () => view.forecast());
  app.get('/v1/handovers', () => view.handovers());
  app.get('/v1/state', () => view.state());
  app.post('/v1/observations', { schema: { body: OBSERVATIONS_REQUEST } }, (request, reply) => {
    const answer = view.observe(request.body as ObservationsRequest);
    if (answer !== undefined) return answer;
    reply.header('retry-after', '10');
    return refuse(reply, { status: 503, code: 'too-many-players', message: 'expected fewer players at once' });
  });
  app.get(EVENTS, (request, reply) => {
    const types = wantedTypes((request.query as Record<string, unknown>)['types']);
    if (types === null) {
      const message = `types: expected some of ${EVENT_TYPES.join(', ')}, separated by commas, each once`;
      return refuse(reply, { status: 400, code: 'bad-request', message });
    }
    if (stream.size >= limits.subscribers) {
      reply.header('retry-after', '10');
      return refuse(reply, { status: 503, code: 'too-many-streams', message: 'expected fewer event streams at once' });
    }
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), 'content-type': 'text/event-stream' });
    raw.socket?.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    raw.socket?.setNoDelay(true);
    const { next, missed } = log.resume(single(request.headers['last-event-id']));
    const hello = frame('hello', { serverUtcMs: clock.utcMs() });
    const opening = missed === undefined ? hello : hello + frame('missed', { reason: missed });
    stream.add({ response: raw, types, next }, opening);
  });
  app.get(HEALTH, (_request, reply) => reply.type('text/plain').send('ok\n'));
  app.get('/metrics', (_request, reply) => reply.type('text/plain; version=0.0.4').send(metrics.text()));
  const openApi = openApiDocument(options.version);
  app.get('/openapi.json', () => openApi);
  await app.ready();
  return app;
}

/** Everything that is refused before a request is looked into. */
function guard(
  app: FastifyInstance,
  { security, clock, rate }: { security: SecurityOptions; clock: Clock; rate: RateLimit },
): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    reply.header('x-content-type-options', 'nosniff');
    const waitSeconds = rate.take(request.ip, clock.monotonicMs());
    if (waitSeconds > 0) {
      reply.header('retry-after', String(Math.ceil(waitSeconds)));
      return refuse(reply, { status: 429, code: 'too-many-requests', message: 'expected fewer requests per second' });
    }
    const { host, origin } = request.headers;
    if (!isHostAllowed(host, security)) {
      const message = `Host: expected localhost, an IP address or a name that the service was told of, got ${describeValue(host)}`;
      return refuse(reply, { status: 403, code: 'host-not-allowed', message });
    }
    if (origin !== undefined && !isOriginAllowed(origin, security)) {
      const message = `Origin: expected one on loopback or one that the service was told of, got ${describeValue(origin)}`;
      return refuse(reply, { status: 403, code: 'origin-not-allowed', message });
    }
    // Chromium asks so before a page of the internet reaches into a private network.
    if (origin !== undefined && request.headers['access-control-request-private-network'] === 'true') {
      reply.header('access-control-allow-private-network', 'true');
    }
  });
}

function count(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    if (route === EVENTS && reply.statusCode === 200) return;
    const { method } = request;
    metrics.observeRequest({ method, route, status: reply.statusCode, seconds: reply.elapsedTime / 1000 });
  });
}

function answerErrors(app: FastifyInstance, onFault: (error: Error) => void): void {
  app.setNotFoundHandler((request, reply) =>
    refuse(reply, {
      status: 404,
      code: 'not-found',
      message: `expected a path and method of /openapi.json, got ${request.method} ${describeValue(request.url)}`,
    }),
  );
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) {
      onFault(error);
      return refuse(reply, { status: 500, code: 'fault', message: 'the service failed; its log says more' });
    }
    const code = status === 413 ? 'body-too-large' : status === 415 ? 'not-json' : 'bad-request';
    return refuse(reply, { status, code, message: messageOf(error, request) });
  });
}

/** Where in the body, what was expected, what came. */
function messageOf(error: FastifyError, request: FastifyRequest): string {
  const first = error.validation?.[0];
  if (first === undefined) return error.message;
  const keys = first.instancePath.split('/').slice(1);
  let value: unknown = request.body;
  let place = 'body';
  for (const key of keys) {
    value = (value as Record<string, unknown> | undefined)?.[key];
    place += /^\d+$/.test(key) ? `[${key}]` : `.${key}`;
  }
  return `${place}: ${first.message ?? 'is wrong'}, got ${describeValue(value)}`;
}

function refuse(
  reply: FastifyReply,
  { status, code, message }: { status: number; code: string; message: string },
): FastifyReply {
  return reply.code(status).send({ error: { code, message } });
}

/** Null where the parameter is wrong. */
function wantedTypes(parameter: unknown): ReadonlySet<string> | undefined | null {
  if (parameter === undefined) return undefined;
  if (typeof parameter !== 'string') return null;
  const types = parameter.split(',');
  const wanted = new Set(types);
  const isRight =
    wanted.size === types.length && types.every((type) => (EVENT_TYPES as readonly string[]).includes(type));
  return isRight ? wanted : null;
}

function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

/** An event without an id: it tells of the connection, and is not to be had again. */
function frame(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
