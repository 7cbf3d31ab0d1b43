/** A player of a stream on demand. README.md describes the model. */

import type { Progress } from '../../../session/player-port.ts';
import { CUTOFF_SECONDS } from '../../scenarios.ts';
import type { EventQueue } from '../event-queue.ts';
import type { SimulationOptions } from '../simulation-options.ts';
import type { Flight } from './flight.ts';
import { Playback } from './playback.ts';
import { nextStep, SimulatedPlayer } from './simulated-player.ts';

/** Progress events are 50 ms apart. The session counts every sixth event (`Request.countsAndSkipsReport`). */
const PROGRESS_SECONDS = 0.3;

export class OnDemandPlayer extends SimulatedPlayer<Flight> {
  protected readonly playback: Playback;
  protected readonly endedBy = 'cutoff';
  protected readonly hasFirstInit = true;
  private readonly _cutoffSeconds: number;

  constructor(options: SimulationOptions, queue: EventQueue) {
    super(options, queue);
    const { scenario, cutoffSeconds = CUTOFF_SECONDS } = options;
    this._cutoffSeconds = cutoffSeconds;
    this.playback = new Playback(scenario.browser.stallLevelSeconds);
  }

  protected join(): void {
    this.begin(0);
  }

  protected endsAtSeconds(): number {
    return this.playback.waitedAtSeconds(this._cutoffSeconds);
  }

  protected bufferedUntilSeconds(): number {
    return this.rows.length * this.scenario.segmentSeconds;
  }

  /** dash.js requests when buffer + segment < cap, plus the delay of polling and the gap after appends. */
  protected lookFor(index: number): void {
    const { scenario, playback } = this;
    if (index === this.segmentCount) this.finish({ endedBy: 'end' });
    else if (index === 0) this.choose();
    else {
      const { requestGapSeconds, requestLatenessSeconds } = scenario.browser;
      const excessSeconds = playback.bufferLevelSeconds + scenario.segmentSeconds - scenario.bufferCapSeconds;
      const seconds = Math.max(requestGapSeconds, excessSeconds + requestLatenessSeconds);
      this.soon(this.nowSeconds + seconds, () => this.choose());
    }
  }

  protected missingSeconds(): number {
    return 0;
  }

  protected newFlight(_index: number, sizeBits: number): Flight {
    return this.wholeFlight(sizeBits);
  }

  protected read(flight: Flight): void {
    const { flow } = this;
    const { firstByteAtSeconds, endsAtSeconds, sizeBits } = flight;
    const report = (event: number) => {
      const atSeconds = firstByteAtSeconds + event * PROGRESS_SECONDS;
      this.soon(atSeconds, () => {
        flow.progressed(flight, { totalBits: flight.receivedBits(atSeconds), sizeBits });
        report(event + 1);
      });
    };
    report(nextStep(this.nowSeconds - firstByteAtSeconds, PROGRESS_SECONDS));
    this.soon(endsAtSeconds, () => {
      flow.progressed(flight, { totalBits: sizeBits, sizeBits });
      this.complete();
    });
  }

  arrived(request: object): Progress {
    return { totalBits: (request as Flight).receivedBits(this.nowSeconds) };
  }

  protected appended(): void {
    this.playback.append(this.scenario.segmentSeconds);
  }

  protected live(): undefined {}

  position(): undefined {}
}
