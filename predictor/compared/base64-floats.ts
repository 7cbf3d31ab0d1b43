/** Numbers in the files of compared models. */

import { InputError } from '../../abr/errors.ts';
import { base64Bytes } from '../built-in/model-file.ts';

/** Little-endian 32-bit floats in base64. `InputError` for other text, for a broken number at the end, and for NaN. */
export function base64Floats(value: unknown, where: string): Float32Array {
  const bytes = base64Bytes(value, where);
  if (bytes.length % 4 !== 0) throw new InputError(where, '32-bit numbers of 4 bytes', bytes.length);
  const view = new DataView(bytes.buffer);
  const numbers = Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
  requireAll(numbers, (number) => !Number.isNaN(number), where);
  return numbers;
}

/** The same, and none of them infinite. */
export function finiteBase64Floats(value: unknown, where: string): Float32Array {
  const numbers = base64Floats(value, where);
  requireAll(numbers, Number.isFinite, where);
  return numbers;
}

function requireAll(numbers: Float32Array, isRight: (number: number) => boolean, where: string): void {
  const wrong = numbers.findIndex((number) => !isRight(number));
  if (wrong >= 0) throw new InputError(`${where}[${wrong}]`, 'a finite number', numbers[wrong]);
}
