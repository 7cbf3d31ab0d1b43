/** The OpenAPI 3.1 document of the service: made of the routes, checked in as `openapi.json`, served at `/openapi.json`. */

import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema, RouteShorthandOptions } from 'fastify';
import {
  COMPONENTS,
  ERROR_REPLY,
  EVENTS_HEADERS,
  EVENTS_QUERY,
  FORECAST_REPLY,
  HANDOVERS_REPLY,
  OBSERVATIONS_REPLY,
  OBSERVATIONS_REQUEST,
  STATE_REPLY,
} from './wire.ts';

type Json = Record<string, unknown>;

const integer = (description: string): Json => ({ type: 'integer', minimum: 1, description });
const RETRY_AFTER = { 'Retry-After': integer('Seconds until it makes sense to ask again') };
const ERRORS: Record<number, { description: string; headers?: Json }> = {
  400: { description: 'The request is not what this document says' },
  401: {
    description: 'The bearer token is missing or wrong',
    headers: { 'WWW-Authenticate': { type: 'string', description: 'The scheme: `Bearer`' } },
  },
  403: { description: 'Host or origin are not allowed' },
  413: { description: 'The body is too large' },
  415: { description: 'The body is not JSON' },
  429: { description: 'Too much from this address: requests, event streams or players', headers: RETRY_AFTER },
  503: { description: 'Too many players or event streams', headers: RETRY_AFTER },
};

interface Operation extends Omit<FastifySchema, 'response'> {
  /** Of status 200: what it is, and its schema. */
  reply: readonly [description: string, schema: unknown];
  /** Default: JSON. */
  type?: string;
  /** Statuses of errors beside 401, 403 and 429. */
  errors?: readonly number[];
  links?: NonNullable<RouteShorthandOptions['links']>[string];
}

function operation({
  reply,
  type = 'application/json',
  errors = [],
  links,
  ...rest
}: Operation): RouteShorthandOptions {
  const [description, schema] = reply;
  const refused = [401, 403, 429, ...errors].map((status) => [
    status,
    { ...ERRORS[status], content: { 'application/json': { schema: ERROR_REPLY } } },
  ]);
  const response = { 200: { description, content: { [type]: { schema } } }, ...Object.fromEntries(refused) };
  return { schema: { ...rest, response }, ...(links && { links: { 200: links } }) };
}

/** What the document says about the routes; requests are validated by it. */
export const OPERATIONS = {
  forecast: operation({
    operationId: 'getForecast',
    summary: 'The newest forecast of the link',
    reply: ['The forecast, or why there is none', FORECAST_REPLY],
    links: { events: { operationId: 'getEvents', parameters: { 'query.types': 'forecast' } } },
  }),
  handovers: operation({
    operationId: 'getHandovers',
    summary: 'When handovers are expected, and what that goes by',
    reply: ['Handovers', HANDOVERS_REPLY],
  }),
  state: operation({
    operationId: 'getState',
    summary: 'State of the service and of what it watches, problems included',
    reply: ['State', STATE_REPLY],
  }),
  observations: operation({
    operationId: 'postObservations',
    summary: 'What a player has seen of the link',
    body: OBSERVATIONS_REQUEST,
    reply: ['What became of it', OBSERVATIONS_REPLY],
    errors: [400, 413, 415, 503],
    links: {
      next: {
        operationId: 'postObservations',
        requestBody: { player: '$request.body#/player', observations: [] },
      },
      forecast: { operationId: 'getForecast' },
      state: { operationId: 'getState' },
    },
  }),
  events: {
    // It would not end.
    exposeHeadRoute: false,
    ...operation({
      operationId: 'getEvents',
      summary: 'Server-sent events',
      description:
        'Begins with `hello` (`{serverUtcMs}`, without an id). Then events with ids: `forecast` (ForecastReply, once a ' +
        'second while there is news), `handover` (Handover or evidence of one), `state` (StateReply, on changes), ' +
        '`trigger` (Trigger) and `clock` (the clock of the service has leapt). A client that comes back with ' +
        '`Last-Event-ID` gets what it missed; where that is not kept any more, `missed` comes first ' +
        '(`{reason: "restarted" | "gap"}`, without an id).',
      querystring: EVENTS_QUERY,
      headers: EVENTS_HEADERS,
      reply: ['Events until the connection ends', { type: 'string' }],
      type: 'text/event-stream',
      errors: [400, 503],
    }),
  },
  health: operation({
    operationId: 'getHealth',
    summary: 'Whether the service answers; needs no token',
    security: [{}],
    reply: ['It does', { const: 'ok\n' }],
    type: 'text/plain',
  }),
  metrics: operation({
    operationId: 'getMetrics',
    summary: "Metrics in Prometheus's text format",
    reply: ['Metrics', { type: 'string' }],
    type: 'text/plain',
  }),
  openApi: operation({
    operationId: 'getOpenApi',
    summary: 'This document',
    reply: ['OpenAPI 3.1', { type: 'object' }],
  }),
};

/** Before the routes are added; then `app.swagger()` is the document. */
export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'leo-abr prediction service',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        description:
          'Forecasts of the capacity and the handovers of a low-Earth-orbit link, for every player behind it. All times ' +
          'are UTC of the service in ms; `serverUtcMs` in replies lets a client learn how far its own clock is off.',
      },
      security: [{}, { bearer: [] }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'Where the service was started with a token' },
        },
      },
    },
    convertConstToEnum: false,
    refResolver: { buildLocalReference: (schema) => String(schema['$id']) },
  });
  for (const schema of COMPONENTS) app.addSchema(schema);
}
