/** A fake player behind the port: tests set its situation and read the calls it got. */

import { assemble } from './assemble.ts';
import { Flow } from './flow.ts';
import { HOST } from './host.fixture.ts';
import type { DecisionEvent } from './page/event-types.ts';
import { Events } from './page/events.ts';
import type { LeoAbrOptions } from './page/option-types.ts';
import { resolveOptions } from './page/options.ts';
import type { Choice, LivePosition, PlayerPort, Segment, Situation } from './player-port.ts';
import type { OptionsWith } from './stand-in.fixture.ts';

export class FakePort implements PlayerPort {
  readonly name = 'the player';
  readonly abandoned: Choice[] = [];
  /** Calls of `rate`: what was set, and the latencies of jumps. */
  readonly rates: (number | undefined)[] = [];
  readonly jumps: number[] = [];
  readonly rate = {
    rateStep: undefined,
    setPlaybackRate: (rate: number | undefined) => {
      this.rates.push(rate);
      this.play({ playbackRate: rate ?? 1 });
    },
    jumpToLive: (latencySeconds: number) => void this.jumps.push(latencySeconds),
  };
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

  manifestUrl(): string {
    return 'https://media.example/stream.mpd';
  }

  situation(isFirst: boolean): Situation | undefined {
    this.firsts.push(isFirst);
    return this.now;
  }

  abandon(choice: Choice): void {
    this.abandoned.push(choice);
  }

  play(playback: Partial<Situation['playback']>, live: Partial<LivePosition> = {}): void {
    const now = this.now!;
    this.now = { ...now, playback: { ...now.playback, ...playback }, live: now.live && { ...now.live, ...live } };
  }

  /** A request for the period's `index`-th segment. */
  segment(index: number, representation = 0): Segment {
    const { period, ladder } = this.now!;
    const endSeconds = period.startSeconds + (index + 1) * 4;
    const asked = ladder[representation]!;
    return { period, representation: asked, index, segmentSeconds: 4, endSeconds, indexedBits: undefined };
  }
}

/** At its target of 3 s, with a second of buffer. */
export function livePort(live: Partial<LivePosition> = {}): FakePort {
  const port = new FakePort();
  const latencies = { latencySeconds: 3, targetLatencySeconds: 3, maxLatencySeconds: 15 };
  const position = { ...latencies, nowSeconds: 100, firstChunkSeconds: 0.5, playbackRates: { min: 0.9, max: 1.1 } };
  port.now = { ...port.now!, live: { ...position, isPaceable: true, ...live } };
  port.play({ bufferLevelSeconds: 1 });
  return port;
}

export function adapted<C extends LeoAbrOptions['controller']>(
  options: OptionsWith<C>,
  port = new FakePort(),
  host = HOST,
) {
  const events = new Events({ logger: null, host });
  const emitted: DecisionEvent[] = [];
  events.on('decision', (event) => emitted.push(event));
  const flow = new Flow(port, assemble(resolveOptions(options), host), events);
  return { flow, controller: options.controller as C, port, events, emitted };
}
