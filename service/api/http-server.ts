/** The HTTP server of the service and of the collector: its limits, its access rules, and its refusals. */

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
import { RateLimit } from './rate-limit.ts';
import { type Refusal, refuse, validationMessage } from './refusals.ts';
import { isHostAllowed, isOriginAllowed, isTokenRight, type SecurityOptions } from './security.ts';

export const DEFAULT_LIMITS = {
  bodyBytes: 64 * 1024,
  rate: { perSecond: 50, burst: 200 },
  /** Open TCP connections; further connections are refused. */
  connections: 1024,
  /** Open event streams; further streams are refused. */
  subscribers: 600,
  /** Idle connections stay open for longer than the pause between two reports of a player. */
  keepAliveMs: 30_000,
  /** Time to receive headers and body, which bounds half-open connections. */
  requestTimeoutMs: 10_000,
};

type ApiLimits = typeof DEFAULT_LIMITS;

export interface HttpOptions extends SecurityOptions {
  /** Addresses and networks (CIDR) of proxies whose `X-Forwarded-For` names the client. Default: none. */
  trustedProxies?: readonly string[] | undefined;
  /** Default: `DEFAULT_LIMITS`. */
  limits?: Partial<ApiLimits>;
  /** Certificate and key in PEM. Default: plain HTTP. */
  tls?: { cert: string; key: string } | undefined;
  /** Receives errors that clients see as status 500. Default: they are dropped. */
  onFault?: ((error: Error) => void) | undefined;
}

export interface ListenOptions extends Pick<HttpOptions, 'tls'> {
  /** Address or name to listen on. Default: 127.0.0.1. */
  host?: string;
  /** If it is 0, any free port. */
  port: number;
}

export interface HttpUse {
  clock: Clock;
  onRefusal(refusal: Refusal): void;
  /** Lists the methods and paths, or names the document that does. */
  routes: string;
  /** Media types that a request's body may have. */
  types: readonly string[];
  /** Whether the token may be in the query, because beacons have no headers. Default: false. */
  hasQueryToken?: boolean;
}

/** Timeout of a connection without traffic. Event streams have heartbeats. */
const IDLE_TIMEOUT_MS = 60_000;
/** Period of Node's check of request timeouts. */
const CHECK_MS = 2000;

export const HEALTH = '/healthz';
const WITHOUT_TOKEN: readonly (string | undefined)[] = [HEALTH, ...PAGE_PATHS];

/** A server without routes, which does not listen yet. */
export async function newHttpServer(options: HttpOptions, use: HttpUse): Promise<FastifyInstance> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const app = newServer(options, limits);
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });
  // CORS comes before any refusal, so that allowed pages can read the reason.
  await app.register(cors, {
    origin: (origin, done) => done(null, origin !== undefined && isOriginAllowed(origin, options)),
    methods: ['GET', 'POST'],
    allowedHeaders: ['authorization', 'content-type'],
    exposedHeaders: ['retry-after'],
    strictPreflight: false,
    maxAge: 600,
  });
  app.decorate('onRefusal', use.onRefusal);
  const notFound = (request: FastifyRequest, reply: FastifyReply) => {
    const message = `expected a method and path of ${use.routes}, got ${askedOf(request)}`;
    return refuse(reply, { status: 404, code: 'not-found', message });
  };
  guard(app, { ...options, ...use, rate: new RateLimit(limits.rate), notFound });
  app.setNotFoundHandler(notFound);
  answerErrors(app, { onFault: options.onFault ?? (() => {}), types: use.types, bodyBytes: limits.bodyBytes });
  return app;
}

/** The method and path. The query may have a token, which no message and no log may repeat. */
const askedOf = ({ method, url }: FastifyRequest) => describeValue(`${method} ${url.split('?', 1)[0]}`);

/** Starts to listen. Resolves with the port and the URL, which has no slash at its end. */
export async function listen(app: FastifyInstance, { host = '127.0.0.1', port, tls }: ListenOptions) {
  await app.listen({ host, port });
  const { address, family, port: listening } = app.server.address() as AddressInfo;
  const name = family === 'IPv6' ? `[${address}]` : address;
  return { port: listening, url: `${tls === undefined ? 'http' : 'https'}://${name}:${listening}` };
}

function newServer({ trustedProxies = [], tls }: HttpOptions, limits: ApiLimits): FastifyInstance {
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
    frameworkErrors(_error, request, reply) {
      const message = `expected a path whose percent-encoding is UTF-8, got ${askedOf(request)}`;
      return refuse(reply, { status: 400, code: 'bad-request', message });
    },
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    // Like all unknown properties, `__proto__` and `constructor` are ignored.
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

/** Answers text that is no HTTP request in the form of other refusals. */
function refuseUnread({ code, message }: ConnectionError, socket: Socket): void {
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[code] ?? 400;
  const body = JSON.stringify({ error: { code: 'bad-request', message } });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: ${Buffer.byteLength(body)}`;
  if (socket.writable) socket.write(`${head}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n${body}`);
  socket.destroy();
}

interface GuardOptions extends SecurityOptions, HttpUse {
  rate: RateLimit;
  notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply;
}

/** Refuses requests by host, origin, rate and token, in this order, before their bodies are read. */
function guard(app: FastifyInstance, options: GuardOptions): void {
  const { clock, hasQueryToken = false, rate, notFound, token } = options;
  app.addHook('onRequest', async (request, reply) => {
    const { host, origin } = request.headers;
    if (!isHostAllowed(host, options)) {
      const message = `Host: expected localhost, an IP address or an allowed name, got ${describeValue(host)}`;
      return refuse(reply, { status: 403, code: 'host-not-allowed', message });
    }
    const { url } = request.routeOptions;
    // Browsers send an origin for the page's own scripts. If the page was opened by an address, it is not listed.
    if (origin !== undefined && !isOriginAllowed(origin, options) && !PAGE_PATHS.includes(url)) {
      const message = `Origin: expected a loopback or an allowed origin, got ${describeValue(origin)}`;
      return refuse(reply, { status: 403, code: 'origin-not-allowed', message });
    }
    // The rate comes after the origin, so that forbidden pages cannot use up the rate of their visitor's address.
    const waitSeconds = rate.take(request.ip, clock.monotonicMs());
    if (waitSeconds > 0) {
      const message = 'expected fewer requests per second';
      reply.header('retry-after', String(Math.ceil(waitSeconds)));
      return refuse(reply, { status: 429, code: 'too-many-requests', message });
    }
    const inQuery = hasQueryToken ? `Bearer ${(request.query as { token?: string }).token}` : undefined;
    const { authorization = inQuery } = request.headers;
    if (token !== undefined && !WITHOUT_TOKEN.includes(url) && !isTokenRight(authorization, token)) {
      reply.header('www-authenticate', 'Bearer');
      return refuse(reply, { status: 401, code: 'unauthorized', message: 'expected the bearer token of the service' });
    }
    // The CORS plugin has answered preflights already.
    if (request.is404 || request.method === 'OPTIONS') return notFound(request, reply);
  });
}

interface ErrorOptions extends Pick<HttpUse, 'types'>, Pick<ApiLimits, 'bodyBytes'> {
  onFault(error: Error): void;
}

function answerErrors(app: FastifyInstance, { onFault, types, bodyBytes }: ErrorOptions): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) {
      onFault(error);
      return refuse(reply, { status: 500, code: 'fault', message: 'the service failed; its log says more' });
    }
    const [first] = error.validation ?? [];
    const place = error.validationContext ?? 'body';
    const value = place === 'body' ? request.body : request.query;
    const type = describeValue(request.headers['content-type']);
    const known = {
      413: { code: 'body-too-large', message: `body: expected at most ${bodyBytes} bytes` },
      415: { code: 'not-json', message: `Content-Type: expected ${types.join(' or ')}, got ${type}` },
    }[status];
    const message = first === undefined ? error.message : validationMessage(first, { value, place });
    return refuse(reply, { status, ...(known ?? { code: 'bad-request', message }) });
  });
}
