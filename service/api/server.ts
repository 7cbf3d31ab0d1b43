/** The HTTP API of the service: routes, limits and access. */

import cors from '@fastify/cors';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { describeValue } from '../../abr/errors.ts';
import { disagreement, PROTOCOL } from '../../predictor/service-client/protocol.ts';
import type { Clock } from '../clock.ts';
import { type Log, NO_LOG } from '../log.ts';
import type { PredictionService } from '../prediction-service.ts';
import { eventText } from './event-stream.ts';
import { Metrics } from './metrics.ts';
import { ReportReader } from './observations.ts';
import { describeApi, OPERATIONS } from './openapi.ts';
import { PAGE_PATHS, servePage } from './page-routes.ts';
import { RateLimit, type RateLimitOptions } from './rate-limit.ts';
import { type Refusal, refusalLog, refuse, refuseTooMany, validationMessage } from './refusals.ts';
import { isHostAllowed, isOriginAllowed, isTokenRight, type SecurityOptions } from './security.ts';
import type { ObservationsRequest } from './wire.ts';

export interface ApiLimits {
  /** Largest request body. */
  bodyBytes: number;
  /** Requests per address. */
  rate: RateLimitOptions;
  /** Open TCP connections; further ones are refused. */
  connections: number;
  /** Open event streams. */
  subscribers: number;
  /** Time to receive headers and body, which bounds half-open connections. */
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
  security: SecurityOptions;
  /** Addresses and networks (CIDR) of proxies whose `X-Forwarded-For` names the client. Default: none. */
  trustedProxies?: readonly string[] | undefined;
  limits: ApiLimits;
  version: string;
  /** PEM. Default: plain HTTP. */
  tls?: { cert: string; key: string } | undefined;
  /** Receives internal errors. */
  onFault?: ((error: Error) => void) | undefined;
  /** Receives refusals. Default: they are not logged. */
  log?: Log | undefined;
}

/** For connections without traffic; event streams have heartbeats. */
const IDLE_TIMEOUT_MS = 60_000;
/** Longer than the pause between two reports of a player. */
const KEEP_ALIVE_MS = 30_000;
/** Silence after which TCP probes the peer. */
const TCP_KEEP_ALIVE_MS = 30_000;
const CHECK_MS = 2000;

const EVENTS = '/v1/events';
const HEALTH = '/healthz';
const WITHOUT_TOKEN: readonly (string | undefined)[] = [HEALTH, ...PAGE_PATHS];

/** Creates the server, which does not listen yet. */
export async function createApi(service: PredictionService, options: ApiOptions): Promise<FastifyInstance> {
  const { clock } = service;
  const { security, limits } = options;
  const app = newServer(options);
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });
  // Before any refusal, so that allowed pages can read the reason.
  await app.register(cors, {
    origin: (origin, done) => done(null, origin !== undefined && isOriginAllowed(origin, security)),
    methods: ['GET', 'POST'],
    allowedHeaders: ['authorization', 'content-type'],
    exposedHeaders: ['retry-after'],
    strictPreflight: false,
    maxAge: 600,
  });
  const metrics = new Metrics(service);
  const logRefusal = refusalLog(options.log ?? NO_LOG, clock);
  app.decorate('onRefusal', (refusal: Refusal) => {
    metrics.observeRefusal(refusal.code);
    logRefusal(refusal);
  });
  guard(app, options, clock);
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    if (route === EVENTS && reply.statusCode === 200) return;
    const { method } = request;
    metrics.observeRequest({ method, route, status: reply.statusCode, seconds: reply.elapsedTime / 1000 });
  });
  app.setNotFoundHandler(notFound);
  answerErrors(app, options.onFault ?? (() => {}));
  await describeApi(app, options.version);

  const forecast = () => ({ ...service.forecast(), protocol: PROTOCOL });
  app.get('/v1/forecast', { ...OPERATIONS.forecast, preHandler }, forecast);
  app.get('/v1/handovers', OPERATIONS.handovers, () => service.handovers());
  app.get('/v1/history', OPERATIONS.history, () => service.history());
  app.get('/v1/state', OPERATIONS.state, () => service.state());
  takeReports(app, service, metrics);
  streamEvents(app, service, limits);
  servePage(app);
  app.get(HEALTH, OPERATIONS.health, (_request, reply) => reply.type('text/plain').send('ok\n'));
  const { registry } = metrics;
  app.get('/metrics', OPERATIONS.metrics, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
  app.get('/openapi.json', OPERATIONS.openApi, () => app.swagger());
  await app.ready();
  return app;
}

function newServer({ trustedProxies = [], limits, tls }: ApiOptions): FastifyInstance {
  const { requestTimeoutMs } = limits;
  const connectionsCheckingInterval = Math.min(CHECK_MS, requestTimeoutMs);
  const timeouts = { headersTimeout: requestTimeoutMs, connectionsCheckingInterval };
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: IDLE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    // Unknown properties are ignored, and these are no exception.
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
    routerOptions: { maxParamLength: 64 },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
    ...(tls === undefined ? { http: timeouts } : { https: { ...tls, ...timeouts } }),
  }) as unknown as FastifyInstance;
  app.server.maxConnections = limits.connections;
  app.removeContentTypeParser('text/plain');
  // Replies are typed, so they need no serializers that enforce the schemas.
  app.setSerializerCompiler(() => JSON.stringify);
  return app;
}

function takeReports(app: FastifyInstance, service: PredictionService, metrics: Metrics): void {
  const options = { ...OPERATIONS.observations, preHandler };
  app.post<{ Body: ObservationsRequest }>('/v1/observations', options, async (request, reply) => {
    const report = new ReportReader(request);
    const answer = service.observe({ ...request.body, observations: report.observations });
    if (answer === undefined) return refuseTooMany(reply, 'players');
    const { serverUtcMs, verdicts, share } = answer;
    const accepted = verdicts.filter((verdict) => verdict === 'accepted').length;
    const rejected = report.rejections(verdicts, serverUtcMs);
    metrics.observeReport({ accepted, rejected });
    return { serverUtcMs, protocol: PROTOCOL, accepted, rejected, share };
  });
}

function streamEvents(app: FastifyInstance, { clock, stream }: PredictionService, limits: ApiLimits): void {
  const options = { ...OPERATIONS.events, preHandler };
  app.get<{ Querystring: { types?: string } }>(EVENTS, options, (request, reply) => {
    const { socket } = request.raw;
    if (stream.size >= limits.subscribers) return refuseTooMany(reply, 'streams');
    reply.hijack();
    const { raw } = reply;
    // nginx would otherwise buffer events.
    const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...headers });
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    const types = request.query.types?.split(',');
    const opening = eventText('hello', { serverUtcMs: clock.utcMs(), protocol: PROTOCOL });
    stream.add({ response: raw, socket, types: types && new Set(types) }, opening);
  });
}

/** Refuses a client that speaks only older versions than the service. A newer one decides by the reply. */
async function preHandler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const newest = Number((request.query as { protocol?: string }).protocol ?? 1);
  const message = disagreement({ oldest: 0, newest }, PROTOCOL);
  return message === undefined ? undefined : refuse(reply, { status: 400, code: 'protocol', message });
}

/** Refuses requests by host, origin, rate and token, in this order, before their bodies are read. */
function guard(app: FastifyInstance, { security, limits }: ApiOptions, clock: Clock): void {
  const rate = new RateLimit(limits.rate);
  app.addHook('onRequest', async (request, reply) => {
    const { host, origin, authorization } = request.headers;
    if (!isHostAllowed(host, security)) {
      const message = `Host: expected localhost, an IP address or an allowed name, got ${describeValue(host)}`;
      return refuse(reply, { status: 403, code: 'host-not-allowed', message });
    }
    const { url } = request.routeOptions;
    // Browsers send the origin for the page's scripts, which is not listed if the page was opened by an address.
    if (origin !== undefined && !isOriginAllowed(origin, security) && !PAGE_PATHS.includes(url)) {
      const message = `Origin: expected a loopback or an allowed origin, got ${describeValue(origin)}`;
      return refuse(reply, { status: 403, code: 'origin-not-allowed', message });
    }
    // After the origin, so that forbidden pages cannot use up the rate of their visitor's address.
    const waitSeconds = rate.take(request.ip, clock.monotonicMs());
    if (waitSeconds > 0) {
      const message = 'expected fewer requests per second';
      reply.header('retry-after', String(Math.ceil(waitSeconds)));
      return refuse(reply, { status: 429, code: 'too-many-requests', message });
    }
    const { token } = security;
    if (token !== undefined && !WITHOUT_TOKEN.includes(url) && !isTokenRight(authorization, token)) {
      reply.header('www-authenticate', 'Bearer');
      return refuse(reply, { status: 401, code: 'unauthorized', message: 'expected the bearer token of the service' });
    }
    // Preflights have been answered already.
    if (request.is404 || request.method === 'OPTIONS') return notFound(request, reply);
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
    const value = place === 'body' ? request.body : request.query;
    const message = first === undefined ? error.message : validationMessage(first, { value, place });
    return refuse(reply, { status, code, message });
  });
}

function notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asked = `${request.method} ${request.url.split('?', 1)[0]}`;
  const message = `expected a method and path of /openapi.json, got ${describeValue(asked)}`;
  return refuse(reply, { status: 404, code: 'not-found', message });
}
