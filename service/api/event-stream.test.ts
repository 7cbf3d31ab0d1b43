import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EventStream } from './event-stream.ts';

const BOOT = 'boot';

function filled(count: number): EventStream {
  const stream = new EventStream(BOOT, 10);
  for (let i = 0; i < count; i++) stream.publish('forecast', { i });
  return stream;
}

/** What a client that resumes after `lastId` reads now. */
function read(stream: EventStream, lastId: string | undefined): string {
  const chunks: string[] = [];
  const response = { on() {}, write: (chunk: string) => chunks.push(chunk) > 0 } as unknown as ServerResponse;
  const socket = { on() {}, destroy() {} } as unknown as Socket;
  stream.add({ types: undefined, response, socket, address: '', next: stream.resume(lastId).next }, '');
  stream.close();
  return chunks.join('');
}

describe('a client that connects', () => {
  test('gets whole server-sent events', () => {
    expect(read(filled(3), `${BOOT}.1`)).toBe(`id: ${BOOT}.2\nevent: forecast\ndata: {"i":2}\n\n`);
  });

  test('without an id begins with the next event, else resumes after the last id', () => {
    for (const id of [undefined, '']) expect(filled(3).resume(id)).toEqual({ next: 3 });
    expect(filled(5).resume(`${BOOT}.2`)).toEqual({ next: 3 });
    expect(filled(5).resume(`${BOOT}.4`)).toEqual({ next: 5 });
  });

  test('gets the reason if events are missing', () => {
    expect(filled(30).resume(`${BOOT}.18`)).toEqual({ next: 20, missed: 'gap' });
    expect(filled(30).resume(`${BOOT}.19`)).toEqual({ next: 20 });
    const foreign = ['other.2', `${BOOT}.7`, `${BOOT}.-1`, `${BOOT}.1e1`, BOOT, '2', `${BOOT}.99999999999999999999`];
    for (const id of foreign) expect(filled(5).resume(id)).toEqual({ next: 5, missed: 'restarted' });
  });

  test('gets each event once, wherever it reconnects', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 20 }), (counts) => {
        const stream = filled(1);
        let seen = 0;
        for (const count of counts) {
          for (let i = 0; i < count; i++) stream.publish('forecast', i);
          const ids = [...read(stream, `${BOOT}.${seen}`).matchAll(/id: \w+\.(\d+)/g)].map(([, id]) => Number(id));
          expect(ids).toEqual(Array.from({ length: count }, (_, i) => seen + 1 + i));
          seen += count;
        }
      }),
      { seed: 1, numRuns: 100 },
    );
  });
});
