import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { describeValue } from '../../abr/errors.ts';

/** A validation error with path, expectation and received value. `place`: name of `value`, such as `body`. */
export function validationMessage(
  { instancePath, message }: Pick<FastifySchemaValidationError, 'instancePath' | 'message'>,
  { value, place }: { value: unknown; place: string },
): string {
  let found = value;
  let where = place;
  for (const key of instancePath.split('/').slice(1)) {
    found = (found as Record<string, unknown> | undefined)?.[key];
    where += /^\d+$/.test(key) ? `[${key}]` : `.${key}`;
  }
  return `${where}: ${message ?? 'is wrong'}, got ${describeValue(found)}`;
}
