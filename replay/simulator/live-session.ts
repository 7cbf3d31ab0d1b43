/** Plays a live stream: joins at the target latency and ends with the encoder. README.md describes the model. */

import type { Download, InFlight, PiecewisePath, PlayerState } from '../../abr/index.ts';
import { DEFAULT_PLAYBACK_RATES, MAX_DRIFT_SECONDS } from '../catch-up.ts';
import { liveMetrics, type PlaybackPiece } from '../evaluation/live-metrics.ts';
import { ChunkedFlight } from '../link/chunked-flight.ts';
import type { SessionResult } from '../results.ts';
import { chunkExistsAtSeconds, encoderEdgeSeconds, type LiveStream, liveSessionSeconds } from '../scenarios.ts';
import { LiveFeed } from './live-feed.ts';
import { LivePlayback } from './live-playback.ts';
import { type Attempt, type Process, Session } from './session.ts';
import { linkOf } from './session-setup.ts';
import type { SimulationOptions } from './simulation-options.ts';

/** What a page adds at the live edge, beside `BrowserModel`; README.md says where the values come from. */
export const LIVE_PAGE = {
  /** From the manifest to the choice of the start position, and from there to the first request. */
  joinSeconds: 0.05,
  setUpSeconds: 0.02,
  /** How late a segment is requested that did not exist before: with chunks, and as a whole. */
  lowLatencyLateSeconds: 0.002,
  lateSeconds: 0.01,
};

export class LiveSession extends Session<ChunkedFlight> {
  readonly playback: LivePlayback;
  protected readonly isInitialised = false;
  private readonly idealLink: PiecewisePath;
  private readonly feed: LiveFeed;
  private readonly chunkCount: number;
  private readonly endsAtSeconds: number;

  /** @throws {RangeError} for a trace without capacity. */
  constructor(
    options: SimulationOptions,
    private readonly live: LiveStream,
  ) {
    super(options);
    const { trace, scenario, forecaster, catchUp, controller } = options;
    const { segmentSeconds, browser } = scenario;
    const { segmentCount, startSeconds } = this;
    this.idealLink = linkOf(trace, scenario).from(startSeconds, 0);
    this.feed = new LiveFeed(forecaster, this.downloads);
    this.chunkCount = Math.round(segmentSeconds / live.chunkSeconds);
    this.endsAtSeconds = liveSessionSeconds({ ...scenario, live, segmentCount });
    this.playback = new LivePlayback({
      live,
      catchUp: catchUp ?? 'default',
      pace: catchUp === undefined && controller.pace ? () => this.pace() : undefined,
      stallLevelSeconds: browser.stallLevelSeconds,
    });
  }

  *play(): Process<SessionResult> {
    const { playback, scenario, rows } = this;
    const end = yield* this.run(this.playToTheEnd());
    const unseen: PlaybackPiece = {
      seconds: playback.startupSeconds,
      latencySeconds: this.live.targetLatencySeconds,
      rate: 1,
      isStalled: true,
    };
    return {
      ...this.result(end, { segmentCount: rows.length, hasUnfinished: true }),
      live: liveMetrics({
        history: playback.history.length > 0 ? playback.history : [unseen],
        bitratesBps: rows.map(({ bitrateBps }) => bitrateBps),
        segmentSeconds: scenario.segmentSeconds,
        ladderBps: scenario.ladderBps,
        jumps: playback.jumps,
      }),
    };
  }

  protected override get isOver(): boolean {
    return this.playback.nowSeconds >= this.endsAtSeconds;
  }

  private *playToTheEnd(): Process<'end'> {
    const { playback } = this;
    this.waitUntil(LIVE_PAGE.joinSeconds);
    playback.seekTo(this.live.targetLatencySeconds);
    this.waitUntil(playback.nowSeconds + LIVE_PAGE.setUpSeconds);
    let index = this.indexAtPosition();
    while (!this.isOver) {
      const { jumps } = playback;
      if (index >= this.segmentCount) this.waitUntil(this.endsAtSeconds);
      else if (yield* this.playSegment(index)) index++;
      if (playback.jumps > jumps) index = this.indexAtPosition();
    }
    return 'end';
  }

  protected get goesOnUntilSeconds(): number {
    return Math.min(this.endsAtSeconds, this.playback.nextJumpSeconds);
  }

  protected waitUntil(seconds: number): boolean {
    return this.playback.advanceTo(Math.min(seconds, this.endsAtSeconds)) && seconds < this.endsAtSeconds;
  }

  /** In low latency dash.js compares the level alone with its target. */
  protected waitForRoom(): boolean {
    const { playback, scenario } = this;
    const { requestGapSeconds } = scenario.browser;
    if (this.rows.length > 0 && !this.waitUntil(playback.nowSeconds + requestGapSeconds)) return false;
    for (;;) {
      const added = this.hasChunks ? 0 : scenario.segmentSeconds;
      const excessSeconds = playback.bufferLevelSeconds + added - scenario.bufferCapSeconds;
      if (excessSeconds < 0) return true;
      const seconds = excessSeconds / playback.playbackRate + this.pollSeconds;
      if (!this.waitUntil(playback.nowSeconds + seconds)) return false;
    }
  }

  protected override waitForMedia(index: number): boolean {
    const { playback } = this;
    const existsAtSeconds = this.existsAtSeconds(index, 0);
    return existsAtSeconds <= playback.nowSeconds || this.waitUntil(existsAtSeconds + this.pollSeconds);
  }

  protected request(index: number, sizeBits: number): ChunkedFlight {
    const { playback, scenario, chunkCount, live } = this;
    const { responseSeconds, responseSecondsPerBit, appendSeconds } = scenario.browser;
    const toPage = (bits: number) => responseSeconds + responseSecondsPerBit * bits;
    const flight = new ChunkedFlight(this.linkNow(this.idealLink), {
      requestedAtSeconds: playback.nowSeconds,
      rttSeconds: scenario.rttSeconds,
      sizeBits,
      chunks: Array.from({ length: chunkCount }, (_, chunk) => {
        return { existsAtSeconds: this.existsAtSeconds(index, chunk), bits: sizeBits / chunkCount };
      }),
      responseSeconds: toPage,
    });
    playback.expect(
      flight.transfers.map((transfer, chunk) => ({
        transfer,
        responseSeconds: toPage(transfer.bits),
        appendSeconds,
        untilMediaSeconds: index * scenario.segmentSeconds + (chunk + 1) * live.chunkSeconds,
      })),
    );
    this.feed.begin(flight, {
      firstChunkAtSeconds: this.existsAtSeconds(index, 0),
      segmentSeconds: scenario.segmentSeconds,
      // The manifest announces the first chunk's end and the encoder's latency in one.
      chunkSeconds: Math.min(scenario.segmentSeconds, encoderEdgeSeconds(live)),
    });
    return flight;
  }

  protected report(hasEnded: boolean): void {
    const { nowSeconds } = this.playback;
    this.feed.report(nowSeconds, hasEnded);
    if (hasEnded) this.playback.dropAppendsAfter(nowSeconds + this.scenario.browser.appendSeconds);
  }

  protected override measured(download: Download): Download | undefined {
    return this.feed.measured(download);
  }

  protected override isWaiting(flight: ChunkedFlight): boolean {
    return flight.isWaiting(this.playback.nowSeconds);
  }

  protected override inFlightOf(attempt: Attempt<ChunkedFlight>, nowSeconds: number): InFlight {
    return this.feed.withoutWaits(super.inFlightOf(attempt, nowSeconds), nowSeconds);
  }

  protected append(): boolean {
    return this.waitUntil(this.playback.nowSeconds + this.scenario.browser.appendSeconds);
  }

  protected override state(): PlayerState {
    const { playback, live } = this;
    const state = super.state();
    const { segmentSeconds } = state;
    const latencySeconds = playback.started ? playback.latencySeconds : live.targetLatencySeconds;
    const dashCap = state.bufferCapSeconds + (this.hasChunks ? segmentSeconds : 0);
    // The next segment's first chunk comes into being at this level.
    const edgeLevel = latencySeconds - encoderEdgeSeconds(live);
    return {
      ...state,
      bufferCapSeconds:
        Math.max(state.bufferLevelSeconds, Math.min(dashCap - segmentSeconds, edgeLevel)) + segmentSeconds,
      // A player does not see the end of a live stream.
      segmentsRemaining: Number.POSITIVE_INFINITY,
      live: {
        latencySeconds,
        targetLatencySeconds: live.targetLatencySeconds,
        chunkSeconds: live.chunkSeconds,
        playbackRates: live.playbackRates ?? DEFAULT_PLAYBACK_RATES,
        maxLatencySeconds: live.targetLatencySeconds + MAX_DRIFT_SECONDS,
        offRateShare: playback.offRate?.share ?? 0,
        firstChunkAtSeconds: this.existsAtSeconds(state.segmentIndex, 0),
      },
    };
  }

  private get hasChunks(): boolean {
    return this.chunkCount > 1;
  }

  private get pollSeconds(): number {
    return this.hasChunks ? LIVE_PAGE.lowLatencyLateSeconds : LIVE_PAGE.lateSeconds;
  }

  private existsAtSeconds(segmentIndex: number, chunkIndex: number): number {
    const { segmentSeconds } = this.scenario;
    return chunkExistsAtSeconds({ segmentSeconds, live: this.live }, { segmentIndex, chunkIndex });
  }

  private indexAtPosition(): number {
    return Math.floor(this.playback.positionSeconds / this.scenario.segmentSeconds);
  }
}
