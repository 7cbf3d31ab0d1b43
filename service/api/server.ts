/** The HTTP API of the service: its routes. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { disagreement, PROTOCOL } from '../../predictor/service-client/protocol.ts';
import { type Log, NO_LOG } from '../log.ts';
import type { PredictionService } from '../prediction-service.ts';
import { eventText } from './event-stream.ts';
import { DEFAULT_LIMITS, HEALTH, type HttpOptions, newHttpServer } from './http-server.ts';
import { Metrics } from './metrics.ts';
import { ReportReader } from './observations.ts';
import { describeApi, OPERATIONS } from './openapi.ts';
import { servePage } from './page-routes.ts';
import { type Refusal, refusalLog, refuse, refuseTooMany } from './refusals.ts';
import type { ObservationsRequest } from './wire.ts';

export interface ApiOptions extends HttpOptions {
  version: string;
  /** Receives refusals. Default: no log. */
  log?: Log | undefined;
}

/** Silence after which TCP probes the peer. */
const TCP_KEEP_ALIVE_MS = 30_000;
const EVENTS = '/v1/events';

export async function createApi(service: PredictionService, options: ApiOptions): Promise<FastifyInstance> {
  const { clock } = service;
  const metrics = new Metrics(service);
  const logRefusal = refusalLog(options.log ?? NO_LOG, clock);
  const onRefusal = (refusal: Refusal) => {
    metrics.refusals.inc({ code: refusal.code });
    logRefusal(refusal);
  };
  const app = await newHttpServer(options, { clock, onRefusal, routes: '/openapi.json', types: ['application/json'] });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    if (route === EVENTS && reply.statusCode === 200) return;
    const { method } = request;
    metrics.observeRequest({ method, route, status: reply.statusCode, seconds: reply.elapsedTime / 1000 });
  });
  await describeApi(app, options.version);

  const forecast = () => ({ ...service.forecast(), protocol: PROTOCOL });
  app.get('/v1/forecast', { ...OPERATIONS.forecast, preHandler }, forecast);
  app.get('/v1/handovers', OPERATIONS.handovers, () => service.handovers());
  app.get('/v1/history', OPERATIONS.history, () => service.history());
  app.get('/v1/state', OPERATIONS.state, () => service.state());
  takeReports(app, service, metrics);
  streamEvents(app, service, options.limits?.subscribers);
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

function streamEvents(
  app: FastifyInstance,
  { clock, stream }: PredictionService,
  most = DEFAULT_LIMITS.subscribers,
): void {
  const options = { ...OPERATIONS.events, preHandler };
  app.get<{ Querystring: { types?: string } }>(EVENTS, options, (request, reply) => {
    const { socket } = request.raw;
    if (stream.size >= most) return refuseTooMany(reply, 'streams');
    reply.hijack();
    const { raw } = reply;
    // Without `x-accel-buffering`, nginx would buffer events.
    const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...headers });
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    const types = request.query.types?.split(',');
    const opening = eventText('hello', { serverUtcMs: clock.utcMs(), protocol: PROTOCOL });
    stream.add({ response: raw, socket, types: types && new Set(types) }, opening);
  });
}

/** Refuses a client that speaks only older versions than the service. A newer client decides by the reply. */
async function preHandler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const newest = Number((request.query as { protocol?: string }).protocol ?? 1);
  const message = disagreement({ oldest: 0, newest }, PROTOCOL);
  return message === undefined ? undefined : refuse(reply, { status: 400, code: 'protocol', message });
}
