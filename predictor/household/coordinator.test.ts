import { describe, expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { validateForecast } from '../../abr/validate-forecast.ts';
import { Coordinator, type PlayerStatus } from './coordinator.ts';

const LINK_BPS = 20e6;

/** A link of 20 Mbit/s, known almost for certain. */
const link: QuantileForecast = {
  issuedAtMs: 100_000,
  source: 'built-in',
  stepEndsSeconds: [4, 8, 16],
  levels: [0.1, 0.5, 0.9],
  quantilesBps: [1, 2, 3].map(() => [LINK_BPS * 0.9999, LINK_BPS, LINK_BPS * 1.0001]),
  rankCorrelation: 0.7,
  handovers: [],
};

function status(more: Partial<PlayerStatus> = {}): PlayerStatus {
  return {
    atSeconds: 100,
    bufferLevelSeconds: 6,
    bufferCapSeconds: 16,
    segmentSeconds: 4,
    ladderBps: [1e6, 2.5e6, 5e6, 8e6, 16e6],
    bitrateBps: 5e6,
    remainingBits: undefined,
    segmentsLeft: 20,
    qoe: 5,
    isWaiting: false,
    ...more,
  };
}

function advice(own: Partial<PlayerStatus>, ...others: Partial<PlayerStatus>[]) {
  const coordinator = new Coordinator();
  coordinator.tell('own', status(own));
  for (const [i, other] of others.entries()) coordinator.tell(`other ${i}`, status(other));
  return coordinator.advise('own', 100, link);
}

/** Median share of the link in each step. */
function shares({ forecast }: { forecast: QuantileForecast }): number[] {
  return forecast.quantilesBps.map((row) => row[(row.length - 1) / 2]! / LINK_BPS);
}

describe('the forecast of a share', () => {
  test('is the link for a player alone, and beside players that have ended or fallen silent', () => {
    expect(advice({})).toEqual({ forecast: link, waitSeconds: 0 });
    expect(advice({}, { segmentsLeft: 0 }).forecast).toBe(link);
    expect(advice({}, { atSeconds: 89 }).forecast).toBe(link);
  });

  test('is the whole link while another pauses, and half of it when that one returns', () => {
    // 15 s of buffer: room for a segment after 3 s. Then it fetches its fair 8 Mbit/s for 4 s of media, at half the link.
    const pausing = advice({}, { bufferLevelSeconds: 15 });
    expect(validateForecast(pausing.forecast)).toBeUndefined();
    expect(pausing.forecast.issuedAtMs).toBe(100_000);
    const ofStep = shares(pausing);
    for (const share of ofStep.slice(0, 5)) expect(share).toBeCloseTo(1, 3);
    expect(ofStep[5]).toBeCloseTo(0.5, 3);
    expect(shares(advice({}, { remainingBits: 40e6 }))[0]).toBeCloseTo(0.5, 3);
  });

  test('is larger for a player whose QoE is lower', () => {
    const own = { remainingBits: undefined };
    const busy = { remainingBits: 40e6, qoe: 5 };
    const behind = shares(advice({ ...own, qoe: 2 }, busy))[0]!;
    const ahead = shares(advice({ ...own, qoe: 8 }, busy))[0]!;
    expect(behind).toBeGreaterThan(0.55);
    expect(ahead).toBeLessThan(0.45);
    expect(behind + ahead).toBeCloseTo(1, 2);
  });
});

describe('a turn', () => {
  test('waits for a download with less left than the own segment', () => {
    // 10 Mbit at 20 Mbit/s, less the round trip that the request may take meanwhile.
    expect(advice({}, { remainingBits: 10e6 }).waitSeconds).toBeCloseTo(0.5 - 0.15, 6);
    expect(advice({}, { remainingBits: 2e6 }).waitSeconds).toBe(0);
    // Since half a second ago it has received half of it.
    expect(advice({}, { atSeconds: 99.75, remainingBits: 10e6 }).waitSeconds).toBeCloseTo(0.25 - 0.15, 6);
  });

  test('waits for a larger download only with ample buffer', () => {
    const large = { remainingBits: 40e6 };
    expect(advice({ bufferLevelSeconds: 5 }, large).waitSeconds).toBe(0);
    expect(advice({ bufferLevelSeconds: 7 }, large).waitSeconds).toBeCloseTo(2 - 0.15, 6);
  });

  test('goes first to the waiting player with the least buffer', () => {
    const waiting = { bufferLevelSeconds: 1, isWaiting: true };
    // Its 4 s of 5 Mbit/s.
    expect(advice({}, waiting).waitSeconds).toBeCloseTo(1, 6);
    expect(advice({ bufferLevelSeconds: 0 }, waiting).waitSeconds).toBe(0);
    expect(advice({}, { ...waiting, atSeconds: 98.5 }).waitSeconds).toBe(0);
  });
});
