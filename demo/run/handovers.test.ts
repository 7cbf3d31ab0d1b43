import { expect, test } from '@jest/globals';
import { type ExpectedHandover, expectHandover, preparationFor } from './handovers.ts';
import { SessionRecord } from './session-record.ts';

const HANDOVER = { atSeconds: 15, sinceSeconds: 4, confidence: 0.95 };

type Rate = readonly [atSeconds: number, rate: number];

function recordOf({ rates = [], mbps = [] }: { rates?: readonly Rate[]; mbps?: number[] }) {
  const record = new SessionRecord(
    mbps.map((one, index) => ({
      ...{ index, bitrateBps: one * 1e6, requestedAtSeconds: 8 + 2 * index, bufferLevelSeconds: 1 },
      ...{ receivedBits: 0, endedAtSeconds: undefined, outcome: 'active' },
    })),
  );
  record.positions = rates.map(([atSeconds, rate]) => ({ atSeconds, rate, mediaSeconds: 0 }));
  return record;
}

test('playing slower and a step down of the bitrate are preparations, the last ones before the handover', () => {
  const rates: Rate[] = Object.entries({ 1: 1, 9: 0.95, 12: 1 }).map(([at, rate]) => [Number(at), rate]);
  const slow = recordOf({ rates });
  expect(preparationFor(HANDOVER, slow)).toEqual({ slowedTo: 0.95 });
  // Slow playback before the handover was expected, or too short, is no preparation.
  for (const sinceSeconds of [12.5, 11.5]) expect(preparationFor({ ...HANDOVER, sinceSeconds }, slow)).toEqual({});
  // The request at second 16 is after the handover.
  const lowered = { fromBps: 22e6, toBps: 16e6 };
  expect(preparationFor(HANDOVER, recordOf({ mbps: [30, 22, 16, 22, 8] }))).toEqual({ lowered });
  // A rate of 0 is a stall.
  expect(preparationFor(HANDOVER, recordOf({ rates: [[8, 0]] }))).toEqual({});
});

test('a handover is noted once, with the newest second and confidence', () => {
  const noted: ExpectedHandover[] = [];
  const at = (nowSeconds: number, ...handovers: { atMs: number; confidence: number }[]) =>
    expectHandover(noted, { handovers }, { utcMs: nowSeconds * 1000, nowSeconds });
  at(4, { atMs: 2000, confidence: 1 }, { atMs: 12_000, confidence: 0.4 });
  at(6, { atMs: 12_500, confidence: 0.9 });
  at(13, { atMs: 27_000, confidence: 0.8 });
  expectHandover(noted, undefined, { utcMs: 14_000, nowSeconds: 14 });
  expect(noted).toEqual([
    { atSeconds: 12.5, confidence: 0.9, sinceSeconds: 4 },
    { atSeconds: 27, confidence: 0.8, sinceSeconds: 13 },
  ]);
});
