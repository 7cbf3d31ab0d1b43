/** Refuses requests with errors as JSON, and logs at most one line a minute for each kind of refusal. */

import type { FastifyReply } from 'fastify';
import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { describeValue } from '../../abr/errors.ts';
import { PROTOCOL } from '../../predictor/service-client/protocol.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

declare module 'fastify' {
  interface FastifyInstance {
    onRefusal(refusal: Refusal): void;
  }
}

export interface Refusal {
  status: number;
  code: string;
  message: string;
  address: string;
}

export function refuse(reply: FastifyReply, refused: Omit<Refusal, 'address'>): FastifyReply {
  const { status, code, message } = refused;
  reply.server.onRefusal({ ...refused, address: reply.request.ip });
  return reply.code(status).send({ error: { code, message }, ...(code === 'protocol' && { protocol: PROTOCOL }) });
}

export function refuseTooMany(reply: FastifyReply, what: 'players' | 'streams'): FastifyReply {
  const message = `expected fewer ${what} at once`;
  return refuse(reply.header('retry-after', '10'), { status: 503, code: `too-many-${what}`, message });
}

/** Describes a validation error: path, expectation and received value. `place` is the name of `value`: `body`. */
export function validationMessage(
  { instancePath, message }: Pick<FastifySchemaValidationError, 'instancePath' | 'message'>,
  { value, place }: { value: unknown; place: string },
): string {
  const { path, found } = located(value, instancePath);
  return `${place}${path}: ${message ?? 'is wrong'}, got ${describeValue(found)}`;
}

/** Converts a JSON pointer to a path as JavaScript writes it, and finds the value at that path. */
export function located(value: unknown, instancePath: string): { path: string; found: unknown } {
  const keys = instancePath.split('/').slice(1);
  return {
    path: keys.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join(''),
    found: keys.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value),
  };
}

const PERIOD_MS = 60_000;

export function refusalLog(log: Log, clock: Clock): (refusal: Refusal) => void {
  const loggedMs = new Map<string, number>();
  return ({ status, code, message, address }) => {
    const nowMs = clock.monotonicMs();
    // A status of 404 is not logged, because browsers request icons that do not exist.
    if (status === 404 || nowMs - (loggedMs.get(code) ?? Number.NEGATIVE_INFINITY) < PERIOD_MS) return;
    loggedMs.set(code, nowMs);
    log.warn({ part: 'client', code, status, address }, `${address} is refused: ${message}`);
  };
}
