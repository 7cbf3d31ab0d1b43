/** The metadata of an ONNX file (onnx.proto: ModelProto.metadata_props = 14, of key = 1 and value = 2). */

import { InputError } from '../../abr/errors.ts';

const METADATA_PROPS = 14;
const KEY = 1;
const VALUE = 2;

/** @throws {InputError} for other bytes, such as a web page. */
export function onnxMetadata(file: Uint8Array): Map<string, string> {
  const metadata = new Map<string, string>();
  const decoder = new TextDecoder();
  for (const [field, entry] of fieldsOf(file)) {
    if (field !== METADATA_PROPS || entry === undefined) continue;
    const fields = new Map(fieldsOf(entry));
    metadata.set(decoder.decode(fields.get(KEY)), decoder.decode(fields.get(VALUE)));
  }
  return metadata;
}

/** Number and bytes of each field of a message; undefined for fields of fixed size. */
function* fieldsOf(message: Uint8Array): Generator<[field: number, bytes: Uint8Array | undefined]> {
  let at = 0;
  const fail = (): never => {
    throw new InputError('model', 'an ONNX file', `other bytes (at ${at} of ${message.length})`);
  };
  const varint = (): number => {
    // Inexact above 2^53, which is no valid length or tag.
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++];
      if (byte === undefined || scale > 2 ** 63) return fail();
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const wireType = tag % 8;
    let bytes: Uint8Array | undefined;
    if (field === 0) fail();
    if (wireType === 0) varint();
    else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else if (wireType === 2) {
      const length = varint();
      bytes = message.subarray(at, at + length);
      at += length;
    } else fail();
    if (at > message.length) fail();
    yield [field, bytes];
  }
}
