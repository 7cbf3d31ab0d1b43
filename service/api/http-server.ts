/** The HTTP server of the service and of the collector: its limits, who may use it, and how it refuses. */

import { STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import cors from '@fastify/cors';
import fastify, {
  type ConnectionError,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { describeValue } from '../../abr/errors.ts';
import type { Clock } from '../clock.ts';
import { PAGE_PATHS } from './page-routes.ts';
import { RateLimit, type RateLimitOptions } from './rate-limit.ts';
import { type Refusal, refuse, validationMessage } from './refusals.ts';
import { isHostAllowed, isOriginAllowed, isTokenRight, type SecurityOptions } from './security.ts';

export interface ApiLimits {
  bodyBytes: number;
  rate: RateLimitOptions;
  /** Open TCP connections; further ones are refused. */
  connections: number;
  subscribers: number;
  keepAliveMs: number;
  /** Time to receive headers and body, which bounds half-open connections. */
  requestTimeoutMs: number;
}

export const DEFAULT_LIMITS: ApiLimits = {
  bodyBytes: 64 * 1024,
  rate: { perSecond: 50, burst: 200 },
  connections: 1024,
  subscribers: 600,
  // Longer than the pause between two reports of a player.
  keepAliveMs: 30_000,
  requestTimeoutMs: 10_000,
};

export interface HttpOptions {
  security: SecurityOptions;
  /** Addresses and networks (CIDR) of proxies whose `X-Forwarded-For` names the client. Default: none. */
  trustedProxies?: readonly string[] | undefined;
  limits: ApiLimits;
  /** PEM. Default: plain HTTP. */
  tls?: { cert: string; key: string } | undefined;
  onFault?: ((error: Error) => void) | undefined;
}

export interface ListenOptions extends Pick<HttpOptions, 'tls'> {
  /** Default: 127.0.0.1. */
  host?: string;
  /** 0: any free port. */
  port: number;
}

export interface HttpUse {
  clock: Clock;
  onRefusal(refusal: Refusal): void;
  /** Where its methods and paths are listed. */
  routes: string;
  /** The token may be in the query, too: beacons have no headers. */
  hasQueryToken?: boolean;
}

/** For connections without traffic; event streams have heartbeats. */
const IDLE_TIMEOUT_MS = 60_000;
const CHECK_MS = 2000;

export const HEALTH = '/healthz';
const WITHOUT_TOKEN: readonly (string | undefined)[] = [HEALTH, ...PAGE_PATHS];

/** A server without routes, which does not listen yet. */
export async function newHttpServer(options: HttpOptions, use: HttpUse): Promise<FastifyInstance> {
  const { security } = options;
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
  app.decorate('onRefusal', (refusal: Refusal) => use.onRefusal(refusal));
  const notFound = (request: FastifyRequest, reply: FastifyReply) => {
    const asked = `${request.method} ${request.url.split('?', 1)[0]}`;
    const message = `expected a method and path of ${use.routes}, got ${describeValue(asked)}`;
    return refuse(reply, { status: 404, code: 'not-found', message });
  };
  guard(app, options, use, notFound);
  app.setNotFoundHandler(notFound);
  answerErrors(app, options.onFault ?? (() => {}));
  return app;
}

/** Listens, and returns the port and the address as a URL without a trailing slash. */
export async function listen(app: FastifyInstance, { host = '127.0.0.1', port, tls }: ListenOptions) {
  await app.listen({ host, port });
  const { address, family, port: listening } = app.server.address() as AddressInfo;
  const name = family === 'IPv6' ? `[${address}]` : address;
  return { port: listening, url: `${tls === undefined ? 'http' : 'https'}://${name}:${listening}` };
}

function newServer({ trustedProxies = [], limits, tls }: HttpOptions): FastifyInstance {
  const { requestTimeoutMs } = limits;
  const connectionsCheckingInterval = Math.min(CHECK_MS, requestTimeoutMs);
  const timeouts = { headersTimeout: requestTimeoutMs, connectionsCheckingInterval };
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: IDLE_TIMEOUT_MS,
    keepAliveTimeout: limits.keepAliveMs,
    forceCloseConnections: true,
    clientErrorHandler: refuseUnread,
    frameworkErrors: ({ message }, _request, reply) => refuse(reply, { status: 400, code: 'bad-request', message }),
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

/** What cannot be read as a request, in the form of other refusals. */
function refuseUnread({ code, message }: ConnectionError, socket: Socket): void {
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[code] ?? 400;
  const body = JSON.stringify({ error: { code: 'bad-request', message } });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: ${Buffer.byteLength(body)}`;
  if (socket.writable) socket.write(`${head}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n${body}`);
  socket.destroy();
}

/** Refuses requests by host, origin, rate and token, in this order, before their bodies are read. */
function guard(
  app: FastifyInstance,
  { security, limits }: HttpOptions,
  { clock, hasQueryToken = false }: HttpUse,
  notFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  const rate = new RateLimit(limits.rate);
  app.addHook('onRequest', async (request, reply) => {
    const { host, origin } = request.headers;
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
    const inQuery = hasQueryToken ? `Bearer ${(request.query as { token?: string }).token}` : undefined;
    const { authorization = inQuery } = request.headers;
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
