import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../../abr/errors.ts';
import { forAll } from '../../abr/property.fixture.ts';
import { onnxMetadata } from './onnx-metadata.ts';

const text = (value: string) => [...new TextEncoder().encode(value)];
const field = (tag: number, of: number[]) => [tag, of.length, ...of];
const entry = (key: string, value: string) => [...field(10, text(key)), ...field(18, text(value))];
const file = (...bytes: number[]) => Uint8Array.from(bytes);

test('finds keys and values between fields of every kind', () => {
  const metadata = onnxMetadata(
    file(
      ...[8, 8], // ir_version = 8
      ...[58, 3, 1, 2, 3], // graph: three bytes of something
      ...field(114, entry('card', 'läuft')),
      ...[13, 0, 0, 128, 63], // a float
      ...field(114, entry('b', '')),
      ...[17, 0, 0, 0, 0, 0, 0, 0, 0], // a double
      ...[40, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], // -1 as int64
    ),
  );
  expect(Object.fromEntries(metadata)).toEqual({ card: 'läuft', b: '' });
});

test.each<[string, Uint8Array]>([
  ['a web page', file(...text('<!doctype html><title>Not found</title>'))],
  ['what is cut off', file(58, 200, 1, 0)],
  ['a number without an end', file(8, ...Array(12).fill(255))],
])('rejects %s', (_, bytes) => {
  expect(() => onnxMetadata(bytes)).toThrow('model: expected an ONNX file, got "other bytes');
});

test('law: any bytes give metadata or an InputError', () => {
  forAll([fc.uint8Array({ maxLength: 200 })], { seed: 11, numRuns: 3000 }, (bytes) => {
    try {
      onnxMetadata(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
    }
  });
});
