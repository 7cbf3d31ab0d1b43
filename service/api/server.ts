/** The HTTP side of the service: routes, limits, who may talk to it. What is answered comes from a `ServiceView`. */

import cors from '@fastify/cors';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { describeValue } from '../../abr/errors.ts';
import type { Clock } from '../clock.ts';
import type { Refusal, Verdict } from '../link/shared-link.ts';
import type { EventLog } from './event-log.ts';
import type { EventStream } from './event-stream.ts';
import type { Metrics } from './metrics.ts';
import { ReportJudge } from './observations.ts';
import { describeApi, OPERATIONS } from './openapi.ts';
import { RateLimit, type RateLimitOptions } from './rate-limit.ts';
import { isHostAllowed, isOriginAllowed, isTokenRight, type SecurityOptions } from './security.ts';
import { validationMessage } from './validation-message.ts';
import type { ForecastReply, HandoversReply, ObservationsReply, ObservationsRequest, StateReply } from './wire.ts';

/** What the API shows. None of these may throw, and only `recorded` may wait. */
export interface ServiceView {
  forecast(): ForecastReply;
  handovers(): HandoversReply;
  state(): StateReply;
  /** What became of each observation of a report from `address`; refused where there is no place for the player. */
  observe(
    request: ObservationsRequest,
    address: string,
  ): { serverUtcMs: number; verdicts: readonly Verdict[]; share: number } | Refusal;
  /** Resolves once what was observed so far is recorded, where anything is. */
  recorded(): Promise<void>;
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
  /** Those of one address among them. */
  subscribersOfAddress: number;
  /** A request has to be in within so long, headers and body: a half-open connection takes a place no longer. */
  requestTimeoutMs: number;
}

export const DEFAULT_LIMITS: ApiLimits = {
  bodyBytes: 64 * 1024,
  rate: { perSecond: 50, burst: 200 },
  connections: 1024,
  subscribers: 600,
  subscribersOfAddress: 32,
  requestTimeoutMs: 10_000,
};

export interface ApiOptions {
  view: ServiceView;
  log: EventLog;
  stream: EventStream;
  metrics: Metrics;
  security: SecurityOptions;
  /** Addresses and networks (CIDR) of proxies whose `X-Forwarded-For` says which address a request is from. */
  trustedProxies: readonly string[];
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

const TOO_MANY: Record<Refusal, Refused> = {
  'too-many-players': {
    status: 503,
    code: 'too-many-players',
    message: 'expected fewer players at once',
    retryAfterSeconds: 10,
  },
  'too-many-players-of-address': {
    status: 429,
    code: 'too-many-players-of-address',
    message: 'expected fewer players of one address at once',
    retryAfterSeconds: 10,
  },
};

/** Does not listen yet. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { view, log, stream, metrics, security, trustedProxies, limits, clock, tls } = options;
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
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    // Properties that are not known are ignored, these too.
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
    routerOptions: { maxParamLength: 64 },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
    ...(tls === undefined ? { http: timeouts } : { https: { ...tls, ...timeouts } }),
  }) as unknown as FastifyInstance;
  app.server.maxConnections = limits.connections;
  app.removeContentTypeParser('text/plain');

  // Replies are what their types say: no serializer of the schemas' drops what it does not know.
  app.setSerializerCompiler(() => JSON.stringify);

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    const { origin, 'access-control-request-private-network': isPrivate } = request.headers;
    // Chromium asks so before a page of the internet reaches into a private network.
    if (isPrivate === 'true' && origin !== undefined && isOriginAllowed(origin, security)) {
      reply.header('access-control-allow-private-network', 'true');
    }
  });
  // Before anything is refused, so that pages that may use the service can read why.
  await app.register(cors, {
    origin: (origin, done) => done(null, origin !== undefined && isOriginAllowed(origin, security)),
    methods: ['GET', 'POST'],
    allowedHeaders: ['authorization', 'content-type', 'last-event-id'],
    exposedHeaders: ['retry-after'],
    strictPreflight: false,
    maxAge: 600,
  });
  const notFound = notFoundHandler(app);
  guard(app, { security, clock, rate: new RateLimit(limits.rate), notFound });
  count(app, metrics);
  app.setNotFoundHandler(notFound);
  answerErrors(app, options.onFault ?? (() => {}));
  await describeApi(app, options.version);

  app.get('/v1/forecast', OPERATIONS.forecast, () => view.forecast());
  app.get('/v1/handovers', OPERATIONS.handovers, () => view.handovers());
  app.get('/v1/state', OPERATIONS.state, () => view.state());
  app.post<{ Body: ObservationsRequest }>('/v1/observations', OPERATIONS.observations, async (request, reply) => {
    const { player, observations } = request.body;
    const judge = new ReportJudge(observations, request);
    const answer = view.observe({ player, observations: judge.observations }, request.ip);
    if (typeof answer === 'string') return refuse(reply, TOO_MANY[answer]);
    const { serverUtcMs, verdicts, share } = answer;
    const accepted = verdicts.filter((verdict) => verdict === 'accepted').length;
    if (accepted > 0) await view.recorded();
    return {
      serverUtcMs,
      accepted,
      rejected: judge.rejections(verdicts, serverUtcMs),
      share,
    } satisfies ObservationsReply;
  });
  app.get<{ Querystring: { types?: string } }>(EVENTS, OPERATIONS.events, (request, reply) => {
    const {
      ip: address,
      raw: { socket },
    } = request;
    if (stream.has(socket)) {
      const message = 'expected an event stream to be the last request of its connection';
      return refuse(reply, { status: 400, code: 'bad-request', message });
    }
    if (stream.size >= limits.subscribers) {
      const message = 'expected fewer event streams at once';
      return refuse(reply, { status: 503, code: 'too-many-streams', message, retryAfterSeconds: 10 });
    }
    if (stream.sizeOf(address) >= limits.subscribersOfAddress) {
      const message = 'expected fewer event streams of one address at once';
      return refuse(reply, { status: 429, code: 'too-many-streams-of-address', message, retryAfterSeconds: 10 });
    }
    reply.hijack();
    const { raw } = reply;
    // Proxies (nginx) would hold events back until a buffer is full.
    const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...headers });
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    const types = request.query.types?.split(',');
    const { next, missed } = log.resume(single(request.headers['last-event-id']));
    const hello = frame('hello', { serverUtcMs: clock.utcMs() });
    const opening = missed === undefined ? hello : hello + frame('missed', { reason: missed });
    stream.add({ response: raw, socket, address, types: types && new Set(types), next }, opening);
  });
  app.get(HEALTH, OPERATIONS.health, (_request, reply) => reply.type('text/plain').send('ok\n'));
  const { registry } = metrics;
  app.get('/metrics', OPERATIONS.metrics, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
  app.get('/openapi.json', OPERATIONS.openApi, () => app.swagger());
  await app.ready();
  return app;
}

/** Everything that is refused before a request is looked into. */
function guard(
  app: FastifyInstance,
  { security, clock, rate, notFound }: { security: SecurityOptions; clock: Clock; rate: RateLimit; notFound: Handler },
): void {
  app.addHook('onRequest', async (request, reply) => {
    const { host, origin, authorization } = request.headers;
    if (!isHostAllowed(host, security)) {
      const message = `Host: expected localhost, an IP address or a name that the service was told of, got ${describeValue(host)}`;
      return refuse(reply, { status: 403, code: 'host-not-allowed', message });
    }
    if (origin !== undefined && !isOriginAllowed(origin, security)) {
      const message = `Origin: expected one on loopback or one that the service was told of, got ${describeValue(origin)}`;
      return refuse(reply, { status: 403, code: 'origin-not-allowed', message });
    }
    // Pages that are refused above cannot use up what the others of their address may send.
    const waitSeconds = rate.take(request.ip, clock.monotonicMs());
    if (waitSeconds > 0) {
      const message = 'expected fewer requests per second';
      const retryAfterSeconds = Math.ceil(waitSeconds);
      return refuse(reply, { status: 429, code: 'too-many-requests', message, retryAfterSeconds });
    }
    const { token } = security;
    if (token !== undefined && request.url !== HEALTH && !isTokenRight(authorization, token)) {
      reply.header('www-authenticate', 'Bearer');
      return refuse(reply, { status: 401, code: 'unauthorized', message: 'expected the bearer token of the service' });
    }
    // Before a body is looked for. What is a preflight has been answered.
    if (request.is404 || request.method === 'OPTIONS') return notFound(request, reply);
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
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) {
      onFault(error);
      return refuse(reply, { status: 500, code: 'fault', message: 'the service failed; its log says more' });
    }
    const code = status === 413 ? 'body-too-large' : status === 415 ? 'not-json' : 'bad-request';
    const [first] = error.validation ?? [];
    const place = error.validationContext ?? 'body';
    const value = place === 'body' ? request.body : place === 'headers' ? request.headers : request.query;
    const message = first === undefined ? error.message : validationMessage(first, { value, place });
    return refuse(reply, { status, code, message });
  });
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** 405 where the path has other methods: those of the routes that are added from now on. */
function notFoundHandler(app: FastifyInstance): Handler {
  const methods = new Map<string, string[]>();
  app.addHook('onRoute', ({ url, method }) => {
    methods.set(url, [...(methods.get(url) ?? []), ...[method].flat()]);
  });
  return ({ method, url }, reply) => {
    const path = url.split('?', 1)[0]!;
    const allowed = methods.get(path);
    if (allowed === undefined) {
      const message = `expected a path of /openapi.json, got ${describeValue(path)}`;
      return refuse(reply, { status: 404, code: 'not-found', message });
    }
    reply.header('allow', allowed.join(', '));
    const message = `expected ${allowed.join(' or ')} for ${path}, got ${method}`;
    return refuse(reply, { status: 405, code: 'method-not-allowed', message });
  };
}

interface Refused {
  status: number;
  code: string;
  message: string;
  /** When to ask again. */
  retryAfterSeconds?: number;
}

function refuse(reply: FastifyReply, { status, code, message, retryAfterSeconds }: Refused): FastifyReply {
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  return reply.code(status).send({ error: { code, message } });
}

function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

/** An event without an id: it tells of the connection, and is not to be had again. */
function frame(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
