/** The OpenAPI 3.1 document: generated from the routes, checked in as `openapi.json`, and served at `/openapi.json`. */

import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema, RouteShorthandOptions } from 'fastify';
import * as wire from './wire.ts';

type Json = Record<string, unknown>;

const RETRY_AFTER: Json = {
  'Retry-After': { type: 'integer', minimum: 1, description: 'Seconds to wait before the next request' },
};
const ERRORS: Record<number, { description: string; headers?: Json }> = {
  400: { description: 'The request does not match this document, or the service no longer speaks its version' },
  401: {
    description: 'The bearer token is missing or wrong',
    headers: { 'WWW-Authenticate': { type: 'string', description: 'The scheme: `Bearer`' } },
  },
  403: { description: 'Host or origin is not allowed' },
  413: { description: 'The body is too large' },
  415: { description: 'The body is not JSON' },
  429: { description: 'Too many requests of this address', headers: RETRY_AFTER },
  503: { description: 'Too many players or event streams', headers: RETRY_AFTER },
};

interface Details extends Omit<FastifySchema, 'response'> {
  /** Media type of the reply. Default: JSON. */
  type?: string;
  /** Error statuses in addition to 401, 403 and 429. */
  errors?: readonly number[];
}

/** Describes a route. `reply` has status 200. */
function operation(
  operationId: string,
  summary: string,
  reply: readonly [description: string, schema: unknown],
  { type = 'application/json', errors = [], ...rest }: Details = {},
): RouteShorthandOptions {
  const [description, schema] = reply;
  const refused = [401, 403, 429, ...errors].map((status) => [
    status,
    { ...ERRORS[status], content: { 'application/json': { schema: wire.ERROR_REPLY } } },
  ]);
  const response = { 200: { description, content: { [type]: { schema } } }, ...Object.fromEntries(refused) };
  return { schema: { operationId, summary, ...rest, response } };
}

const asked = { querystring: wire.PROTOCOL_QUERY };
const forecastReply = ['The forecast, or the reason why there is none', wire.FORECAST_REPLY] as const;
const observationsReply = ['The accepted and rejected observations', wire.OBSERVATIONS_REPLY] as const;
const historySummary = 'Usage and expected capacity of the last minute, outages of the last hour';
const PLAIN_TEXT = { type: 'text/plain' };
const stateSummary = 'State of service, dish, sky and link, with current problems';
const events = {
  description:
    'Begins with `hello` (`{serverUtcMs, protocol}`, without an id). Then events with ids: `forecast` (ForecastReply, ' +
    'about once a second while the link is observed), `handover` (Handover, when it is due), `state` ' +
    "(StateReply, on changes), `trigger` (Trigger) and `clock` (the service's clock was set). Ids count from the " +
    "service's start.",
  querystring: wire.EVENTS_QUERY,
  type: 'text/event-stream',
  errors: [400, 503],
};

/** The operations of the routes. Their schemas also validate requests. */
export const OPERATIONS = {
  forecast: operation('getForecast', 'The newest forecast of the link', forecastReply, { ...asked, errors: [400] }),
  handovers: operation('getHandovers', 'Expected handovers', ['Handovers', wire.HANDOVERS_REPLY]),
  history: operation('getHistory', historySummary, ['Rates and outages with their times', wire.HISTORY_REPLY]),
  state: operation('getState', stateSummary, ['State', wire.STATE_REPLY]),
  observations: operation('postObservations', "A player's observations of the link", observationsReply, {
    ...asked,
    body: wire.OBSERVATIONS_REQUEST,
    errors: [400, 413, 415, 503],
  }),
  events: {
    // The reply to a HEAD request would not end.
    exposeHeadRoute: false,
    ...operation('getEvents', 'Server-sent events', ['Events until the connection ends', { type: 'string' }], events),
  },
  health: operation('getHealth', 'Liveness; needs no token', ['The service is alive', { const: 'ok\n' }], {
    security: [{}],
    ...PLAIN_TEXT,
  }),
  metrics: operation('getMetrics', "Metrics in Prometheus's text format", ['Metrics', { type: 'string' }], PLAIN_TEXT),
  openApi: operation('getOpenApi', 'This document', ['OpenAPI 3.1', { type: 'object' }]),
};

/** Call it before the routes are added; `app.swagger()` then returns the document. */
export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'leo-abr prediction service',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        description:
          'Forecasts the capacity and the handovers of a low-Earth-orbit link for all players behind it. All times ' +
          "are the service's UTC in ms; `serverUtcMs` in replies lets a client estimate the offset of its own clock. A " +
          'client sends the newest version of this protocol that it speaks (`protocol`), and the service states its ' +
          'range: both use the newest version that both speak.',
      },
      security: [{}, { bearer: [] }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'Required if the service was started with a token' },
        },
      },
    },
    convertConstToEnum: false,
    refResolver: { buildLocalReference: (schema) => String(schema['$id']) },
  });
  for (const schema of wire.COMPONENTS) app.addSchema(schema);
}
