/** A fake player behind the port: tests set its situation and read the calls it got. */

import { createAdaptation } from './adaptation.ts';
import { createEvents, type DecisionEvent } from './events.ts';
import { type LeoAbrOptions, resolveOptions } from './mpc-l-options.ts';
import type { Choice, PlayerPort, SegmentRequest, Situation } from './player-port.ts';

export class FakePort implements PlayerPort {
  readonly name = 'the player';
  readonly abandoned: Choice[] = [];
  /** The arguments of `situation`. */
  readonly firsts: boolean[] = [];
  now: Situation | undefined = {
    period: { id: 'p0', startSeconds: 0, firstIndex: 0, segmentCount: 10, segmentsAfter: 0 },
    ladder: [1e6, 2e6, 4e6].map((bitrateBps, i) => ({ id: `v${i}`, bitrateBps })),
    playback: { segmentSeconds: 4, bufferLevelSeconds: 0, bufferCapSeconds: 18, playbackRate: 1, isPaused: false },
    bufferedUntilSeconds: 0,
    playableUntilSeconds: 0,
    live: undefined,
    indexedBits: () => undefined,
  };

  origin(): string {
    return 'https://media.example';
  }

  situation(isFirst: boolean): Situation | undefined {
    this.firsts.push(isFirst);
    return this.now;
  }

  abandon(choice: Choice): void {
    this.abandoned.push(choice);
  }

  /** A request for the period's `index`-th segment. */
  segment(index: number, representation = 0): SegmentRequest {
    const { period, ladder } = this.now!;
    const endSeconds = period.startSeconds + (index + 1) * 4;
    const asked = ladder[representation]!;
    return { period, representation: asked, index, segmentSeconds: 4, endSeconds, indexedBits: undefined };
  }
}

/** The core with a fake player. */
export function adapted(options: LeoAbrOptions, port = new FakePort()) {
  const events = createEvents(null);
  const emitted: DecisionEvent[] = [];
  events.on('decision', (event) => emitted.push(event));
  return { port, events, emitted, ...createAdaptation(port, resolveOptions(options), events) };
}
