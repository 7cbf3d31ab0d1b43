import { expect, test } from '@jest/globals';
import { Dips } from './dips.ts';
import { dippingLink, type Link, liveObservationsOf, noisyLink, observationsOf, squareLink } from './links.fixture.ts';

function slotsOf(link: Link, { pieces = liveObservationsOf(link, { untilSeconds: 60 }) } = {}) {
  const slots: { slot: number; isDip: boolean; share: number }[] = [];
  const dips = new Dips((slot, isDip, share) => slots.push({ slot, isDip, share }));
  for (const piece of pieces) if (piece.kind === 'throughput') dips.observe(piece);
  return { slots, dips: slots.filter(({ isDip }) => isDip).map(({ slot }) => slot) };
}

const at = (...starts: number[]) => dippingLink((second) => starts.includes(Math.floor(second * 10) / 10));

test('finds where short dips begin', () => {
  const { slots, dips } = slotsOf(at(12.5, 27.5, 40));
  expect(dips).toEqual([125, 275, 400]);
  // Dips are found when they end, so in order of their beginning.
  expect(slots.map(({ slot }) => slot)).toEqual(slots.map(({ slot }) => slot).sort((a, b) => a - b));
});

test('a step of the rate, an outage of a second and noise are no dips', () => {
  expect(slotsOf(squareLink(15)).dips).toEqual([]);
  expect(slotsOf(at(...Array.from({ length: 10 }, (_, i) => 30 + i / 10))).dips).toEqual([]);
  expect(slotsOf(noisyLink(1, 0.1)).dips).toEqual([]);
});

test('the share of dips starts at 1 of 26 and follows the link', () => {
  const { slots } = slotsOf(noisyLink(1, 0.1));
  expect(slots[0]!.share).toBeCloseTo(1 / 26);
  expect(slots.at(-1)!.share).toBeLessThan(0.01);
  const often = slotsOf(dippingLink((second) => Math.floor(second * 10) % 10 === 0)).slots;
  expect(often.at(-1)!.share).toBeGreaterThan(0.05);
});

test('pieces of half a second hide dips', () => {
  const link = at(12.5);
  const pieces = observationsOf(link, { untilSeconds: 60, busySeconds: 4 }).map((piece) => ({
    ...piece,
    endSeconds: 'endSeconds' in piece ? piece.endSeconds + 0.4 : 0,
  }));
  expect(slotsOf(link, { pieces: pieces as ReturnType<typeof observationsOf> }).slots).toEqual([]);
});
