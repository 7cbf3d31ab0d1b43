/** The OpenAPI 3.1 document of the service: made of the routes, checked in as `openapi.json`, served at `/openapi.json`. */

import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { COMPONENTS, ERROR_REPLY } from './wire.ts';

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
}

/** What the document says about a route; requests are validated by it. */
export function operation({ reply, type = 'application/json', errors = [], ...rest }: Operation): FastifySchema {
  const [description, schema] = reply;
  const refused = [401, 403, 429, ...errors].map((status) => [
    status,
    { ...ERRORS[status], content: { 'application/json': { schema: ERROR_REPLY } } },
  ]);
  return {
    ...rest,
    response: { 200: { description, content: { [type]: { schema } } }, ...Object.fromEntries(refused) },
  };
}

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
