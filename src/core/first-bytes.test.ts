/** The core and MPC-L on a link whose first bytes come in a burst, as the player reports them. */

import { describe, expect, test } from '@jest/globals';
import { adapted, FakePort } from './fake-port.fixture.ts';
import { useManualClock, wait } from './manual-clock.fixture.ts';

useManualClock();

const LADDER_BPS = [0.46e6, 1.06e6, 2.26e6, 4.76e6];
const SEGMENT_SECONDS = 4;
const CAP_SECONDS = 30;
const PLAYED_SECONDS = 36;
const COMPARED_SEGMENTS = 7;
const PEAK_BPS = 100e6;
/** Of the player's progress events. */
const TICK_SECONDS = 0.05;

/** Behind a bucket of tokens, or while TCP starts: then the rate doubles every 0.1 s. */
function linkOf(rateBps: number, { bucketBits = 0, slowStart = false }) {
  let tokens = bucketBits;
  let seconds = 0;
  /** The bits that arrive in the next tick, of `wantedBits`. */
  return (wantedBits: number) => {
    const share = slowStart ? Math.min(1, 0.1 * 2 ** (seconds / 0.1)) : 1;
    const freshBits = share * rateBps * TICK_SECONDS;
    seconds += TICK_SECONDS;
    const bits = Math.min(PEAK_BPS * TICK_SECONDS, freshBits + tokens, wantedBits);
    tokens = Math.min(bucketBits, tokens + freshBits - bits);
    return bits;
  };
}

function play(link: ReturnType<typeof linkOf>) {
  const port = new FakePort();
  port.now!.ladder = LADDER_BPS.map((bitrateBps, i) => ({ id: `v${i}`, bitrateBps }));
  port.play({ bufferCapSeconds: CAP_SECONDS });
  const { decisions, downloads, session } = adapted({ prior: false }, port);
  const chosenBps: number[] = [];
  let [buffer, stallSeconds] = [0, 0];
  let flight: { representation: number; bits: number; seconds: number } | undefined;
  const send = ({ representationId }: { representationId: string }) => {
    flight = { representation: Number(representationId.slice(1)), bits: 0, seconds: 0 };
    downloads.requested(flight, { isMedia: true, segment: port.segment(chosenBps.length, flight.representation) });
  };
  for (let tick = 0; tick < PLAYED_SECONDS / TICK_SECONDS; tick++) {
    if (!flight && buffer + SEGMENT_SECONDS <= CAP_SECONDS) send(decisions.decide()!);
    wait(TICK_SECONDS);
    if (chosenBps.length > 0) stallSeconds += Math.max(0, TICK_SECONDS - buffer);
    buffer = Math.max(0, buffer - TICK_SECONDS);
    port.play({ bufferLevelSeconds: buffer });
    const sizeBits = flight ? LADDER_BPS[flight.representation]! * SEGMENT_SECONDS : 0;
    // The first tick of a request is its round trip.
    const bits = link(flight && flight.seconds > 0 ? sizeBits - flight.bits : 0);
    if (!flight) continue;
    flight.seconds += TICK_SECONDS;
    flight.bits += bits;
    if (bits > 0) downloads.received(flight, { totalBits: flight.bits, sizeBits });
    const instead = port.abandoned.pop();
    if (instead) {
      downloads.ended(flight, 'abandoned', flight.seconds);
      send(instead);
    } else if (flight.bits >= sizeBits) {
      downloads.ended(flight, 'whole', flight.seconds);
      chosenBps.push(LADDER_BPS[flight.representation]!);
      if (chosenBps.length === 1) session.playing();
      buffer += SEGMENT_SECONDS;
      port.play({ bufferLevelSeconds: buffer });
      flight = undefined;
    }
  }
  const firstBps = chosenBps.slice(0, COMPARED_SEGMENTS);
  return { stallSeconds, meanBps: firstBps.reduce((sum, bps) => sum + bps, 0) / COMPARED_SEGMENTS };
}

describe.each([4, 8])('a link of %d Mbit/s', (mbps) => {
  const rateBps = mbps * 1e6;

  test.each([0.25, 0.5, 1])('behind a bucket of %d s shows no less than without', (seconds) => {
    const { stallSeconds, meanBps } = play(linkOf(rateBps, { bucketBits: seconds * rateBps }));
    expect(stallSeconds).toBeLessThan(0.3);
    expect(meanBps).toBeGreaterThan(0.9 * play(linkOf(rateBps, {})).meanBps);
  });

  test('is not taken for a slow one while TCP starts', () => {
    const { stallSeconds, meanBps } = play(linkOf(rateBps, { slowStart: true }));
    expect(stallSeconds).toBeLessThan(0.3);
    expect(meanBps).toBeGreaterThan(0.8 * play(linkOf(rateBps, {})).meanBps);
  });
});
