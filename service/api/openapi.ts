/** The OpenAPI 3.1 document of the service; checked in as `openapi.json`, served at `GET /openapi.json`. */

import { SCHEMAS } from './schemas.ts';
import { EVENT_TYPES } from './wire.ts';

type Json = Record<string, unknown>;

const ERRORS: Record<string, string> = {
  400: 'The request is not what this document says',
  401: 'The bearer token is missing or wrong',
  403: 'Host or origin are not allowed',
  404: 'There is no such path, or not by that method',
  413: 'The body is too large',
  415: 'The body is not JSON',
  429: 'Too many requests; `Retry-After` says when to try again',
  503: 'Too many players or event streams',
};

function replies(description: string, content: Json, errors: readonly number[]): Json {
  const refused = errors.map((status) => [
    String(status),
    {
      description: ERRORS[status],
      content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorReply' } } },
    },
  ]);
  return { 200: { description, content }, ...Object.fromEntries(refused) };
}

const json = (schema: string): Json => ({
  'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
});
const COMMON = [401, 403, 429];

export function openApiDocument(version: string): Json {
  return {
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
    paths: {
      '/v1/forecast': {
        get: {
          operationId: 'getForecast',
          summary: 'The newest forecast of the link',
          responses: replies('The forecast, or why there is none', json('ForecastReply'), COMMON),
        },
      },
      '/v1/handovers': {
        get: {
          operationId: 'getHandovers',
          summary: 'When handovers are expected, and what that goes by',
          responses: replies('Handovers', json('HandoversReply'), COMMON),
        },
      },
      '/v1/state': {
        get: {
          operationId: 'getState',
          summary: 'State of the service and of what it watches, problems included',
          responses: replies('State', json('StateReply'), COMMON),
        },
      },
      '/v1/events': {
        get: {
          operationId: 'getEvents',
          summary: 'Server-sent events',
          description:
            'Begins with `hello` (`{serverUtcMs}`, without an id). Then events with ids: `forecast` (ForecastReply, once a ' +
            'second while there is news), `handover` (Handover or evidence of one), `state` (StateReply, on changes), ' +
            '`trigger` (Trigger) and `clock` (the clock of the service has leapt). A client that comes back with ' +
            '`Last-Event-ID` gets what it missed; where that is not kept any more, `missed` comes first ' +
            '(`{reason: "restarted" | "gap"}`, without an id).',
          parameters: [
            {
              name: 'types',
              in: 'query',
              description: `Types wanted, separated by commas: ${EVENT_TYPES.join(', ')}. Default: all`,
              schema: { type: 'string', pattern: `^(${EVENT_TYPES.join('|')})(,(${EVENT_TYPES.join('|')}))*$` },
            },
            {
              name: 'Last-Event-ID',
              in: 'header',
              description: 'Id of the newest event that the client has',
              schema: { type: 'string', maxLength: 64 },
            },
          ],
          responses: replies(
            'Events until the connection ends',
            { 'text/event-stream': { schema: { type: 'string' } } },
            [400, ...COMMON, 503],
          ),
        },
      },
      '/v1/observations': {
        post: {
          operationId: 'postObservations',
          summary: 'What a player has seen of the link',
          requestBody: { required: true, content: json('ObservationsRequest') },
          responses: replies('What became of it', json('ObservationsReply'), [400, ...COMMON, 413, 415, 503]),
        },
      },
      '/healthz': {
        get: {
          operationId: 'getHealth',
          summary: 'Whether the service answers; needs no token',
          security: [{}],
          responses: replies('It does', { 'text/plain': { schema: { const: 'ok\n' } } }, [403, 429]),
        },
      },
      '/metrics': {
        get: {
          operationId: 'getMetrics',
          summary: "Metrics in Prometheus's text format",
          responses: replies('Metrics', { 'text/plain': { schema: { type: 'string' } } }, COMMON),
        },
      },
      '/openapi.json': {
        get: {
          operationId: 'getOpenApi',
          summary: 'This document',
          responses: replies('OpenAPI 3.1', { 'application/json': { schema: { type: 'object' } } }, COMMON),
        },
      },
    },
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Where the service was started with a token' },
      },
    },
  };
}
