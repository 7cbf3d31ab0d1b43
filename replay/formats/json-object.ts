import { InputError } from '../../abr/errors.ts';

/** The object in a JSON text. `file` is for messages. @throws {InputError} for another text. */
export function jsonObject(text: string, file: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new InputError(file, 'a JSON object', error);
  }
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>;
  throw new InputError(file, 'a JSON object', json);
}
