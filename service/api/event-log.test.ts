import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EventLog } from './event-log.ts';

function filled(count: number, kept = 10): EventLog {
  const log = new EventLog('boot', kept);
  for (let i = 0; i < count; i++) log.append('forecast', { i });
  return log;
}

describe('the event log', () => {
  test('formats a server-sent event', () => {
    const { frame } = filled(3).at(2)!;
    expect(frame.toString()).toBe('id: boot.2\nevent: forecast\ndata: {"i":2}\n\n');
  });

  test('a client without an id begins with the next event', () => {
    expect(filled(3).resume(undefined)).toEqual({ next: 3 });
    expect(filled(3).resume('')).toEqual({ next: 3 });
  });

  test('resumes after the last id', () => {
    expect(filled(5).resume('boot.2')).toEqual({ next: 3 });
    expect(filled(5).resume('boot.4')).toEqual({ next: 5 });
  });

  test('reports a gap if events are no longer kept', () => {
    expect(filled(30).resume('boot.18')).toEqual({ next: 20, missed: 'gap' });
    expect(filled(30).resume('boot.19')).toEqual({ next: 20 });
  });

  test.each(['other.2', 'boot.7', 'boot.-1', 'boot.1e1', 'boot', '2', 'boot.99999999999999999999', '\n'])(
    'reports a restart for the foreign or invalid id %j',
    (id) => expect(filled(5).resume(id)).toEqual({ next: 5, missed: 'restarted' }),
  );

  test('a client gets each event once, wherever it reconnects', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 20 }), (reads) => {
        const log = new EventLog('b', 10);
        const seen: number[] = [];
        let lastId: string | undefined = log.idOf(log.append('forecast', 0).sequence);
        for (const count of reads) {
          for (let i = 0; i < count; i++) log.append('forecast', i);
          const { next, missed } = log.resume(lastId);
          expect(missed).toBeUndefined();
          for (let sequence = next; sequence < log.next; sequence++) seen.push(log.at(sequence)!.sequence);
          lastId = log.idOf(log.next - 1);
        }
        expect(seen).toEqual(seen.map((_, i) => i + 1));
        expect(seen).toHaveLength(log.next - 1);
      }),
      { seed: 1, numRuns: 100 },
    );
  });
});
