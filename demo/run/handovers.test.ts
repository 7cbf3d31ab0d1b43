import { describe, expect, test } from '@jest/globals';
import { handoverMoment, type MomentSession, preparation } from './handover-moment.ts';

const HANDOVER = { atSeconds: 15, sinceSeconds: 4, confidence: 0.95 };
const session = (parts: Partial<MomentSession>): MomentSession => ({ stalls: [], rates: [], requests: [], ...parts });
const stalledFor = (seconds: number, startSeconds = 15.1) =>
  session({ stalls: [{ startSeconds, endSeconds: startSeconds + seconds }] });
const slow = session({
  rates: [
    { atSeconds: 1, rate: 1 },
    { atSeconds: 9, rate: 0.95 },
    { atSeconds: 12, rate: 1 },
  ],
});

describe('handoverMoment', () => {
  test('is what was saved up ahead of the handover, and what the other player lost in its dip', () => {
    const slowed = { atSeconds: 9, rate: 0.95, savedSeconds: expect.closeTo(0.15, 9) };
    const moment = { handover: HANDOVER, slowed, ownSeconds: 0, lostSeconds: expect.closeTo(0.5, 9) };
    expect(handoverMoment(HANDOVER, slow, stalledFor(0.5))).toEqual(moment);
  });

  test('counts a step down of the bitrate ahead of it, the last one', () => {
    const requests = [30, 22, 16, 22, 8].map((mbps, i) => ({ requestedAtSeconds: 8 + 2 * i, bitrateBps: mbps * 1e6 }));
    const moment = handoverMoment(HANDOVER, session({ requests }), stalledFor(0.5));
    // The request at second 16 is after the handover.
    expect(moment).toMatchObject({ lowered: { atSeconds: 12, fromBps: 22e6, toBps: 16e6 } });
    expect(moment).not.toHaveProperty('slowed');
  });

  test.each([
    ['nothing was done ahead', session({}), stalledFor(0.5)],
    ['the other one stalls too shortly', slow, stalledFor(0.15)],
    ['the other one stalls before the dip', slow, stalledFor(0.5, 14)],
    ['both stall', { ...slow, ...stalledFor(0.3), rates: slow.rates }, stalledFor(0.5)],
    ['the own stall is not much shorter', { ...slow, stalls: stalledFor(0.09).stalls }, stalledFor(0.25)],
  ])('is none where %s', (_, own, other) => {
    expect(handoverMoment(HANDOVER, own, other)).toBeUndefined();
  });

  test('is none for what was done before the handover was announced', () => {
    expect(handoverMoment({ ...HANDOVER, sinceSeconds: 12.5 }, slow, stalledFor(0.5))).toBeUndefined();
  });
});

test('preparation ends at the given second, and a rate of 0 is a stall', () => {
  const rates = [
    { atSeconds: 0, rate: 0.9 },
    { atSeconds: 5, rate: 0 },
  ];
  const slowed = { atSeconds: 2, rate: 0.9, savedSeconds: expect.closeTo(0.2, 9) };
  expect(preparation(session({ rates }), 2, 4).slowed).toEqual(slowed);
  expect(preparation(session({ rates }), 5, 9)).toEqual({});
});
