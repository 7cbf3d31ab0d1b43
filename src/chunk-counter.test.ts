import { expect, test } from '@jest/globals';
import { ChunkCounter } from './chunk-counter.ts';

const box = (type: string, payloadBytes: number) => {
  const bytes = Buffer.alloc(8 + payloadBytes, 'm');
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.write(type, 4, 'latin1');
  return bytes;
};

/** Three chunks, an empty one among them. */
const BODY = Buffer.concat([
  ...[box('styp', 8), box('moof', 40), box('mdat', 100)],
  ...[box('moof', 40), box('mdat', 0)],
  ...[box('prft', 16), box('moof', 40), box('mdat', 1)],
]);

test.each([1, 3, 7, 8, 9, 50, 1000])('counts each chunk once, where it ends, in parts of %i bytes', (partBytes) => {
  const counter = new ChunkCounter();
  const ends = [];
  for (let at = 0; at < BODY.length; at += partBytes) {
    const part = BODY.subarray(at, at + partBytes);
    for (let chunks = counter.endedIn(part); chunks > 0; chunks--) ends.push(at + part.length);
  }
  const inPart = (end: number) => Math.min(BODY.length, Math.ceil(end / partBytes) * partBytes);
  expect(ends).toEqual([172, 228, BODY.length].map(inPart));
});
