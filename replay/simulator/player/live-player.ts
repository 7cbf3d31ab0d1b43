/** A player of a live stream: joins at the target latency and ends with the encoder. README.md describes the model. */

import type { PiecewisePath } from '../../../abr/index.ts';
import type { LiveMedia, LivePosition, Period, RatePort } from '../../../session/player-port.ts';
import { CATCH_UP_PERIOD_SECONDS, DEFAULT_PLAYBACK_RATES, MAX_DRIFT_SECONDS } from '../../catch-up.ts';
import { liveMetrics, type PlaybackPiece } from '../../evaluation/figures/live-metrics.ts';
import { ChunkedFlight } from '../../link/chunked-flight.ts';
import { linkOf } from '../../link/trace-link.ts';
import type { SessionResult } from '../../results.ts';
import { chunkExistsAtSeconds, encoderEdgeSeconds, type LiveStream, liveSessionSeconds } from '../../scenarios.ts';
import type { EventQueue } from '../event-queue.ts';
import type { SimulationOptions } from '../simulation-options.ts';
import { LivePlayback } from './live-playback.ts';
import { nextStep, ROUNDING_SECONDS, SimulatedPlayer } from './simulated-player.ts';

/** Delays of a page at the live edge beyond `BrowserModel`; README.md says where the values come from. */
export const LIVE_PAGE = {
  /** From the manifest to the choice of the start position, and from there to the first request. */
  joinSeconds: 0.05,
  setUpSeconds: 0.02,
  /** Lateness of a request for a segment that did not exist before: with chunks, and as a whole. */
  lowLatencyLateSeconds: 0.002,
  lateSeconds: 0.01,
  /** Parts in which a page sees a body: the first part of each chunk, the other parts, or progress events. */
  firstReadSeconds: 0.004,
  readChunksSeconds: 0.02,
  readWholeSeconds: 0.05,
};

export class LivePlayer extends SimulatedPlayer<ChunkedFlight> {
  protected readonly playback: LivePlayback;
  protected readonly endedBy = 'end';
  protected readonly hasFirstInit = false;
  override readonly rate: RatePort = {
    rateStep: undefined,
    setPlaybackRate: (rate) => this.playback.setRate(rate),
    jumpToLive: (latencySeconds) => {
      this.playback.jump(latencySeconds);
      this._rejoin();
    },
  };
  private readonly _idealLink: PiecewisePath;
  private readonly _chunkCount: number;
  private readonly _streamEndsAtSeconds: number;

  /** @throws {RangeError} for a trace without capacity. */
  constructor(
    options: SimulationOptions,
    private readonly _stream: LiveStream,
    queue: EventQueue,
  ) {
    super(options, queue);
    const { trace, scenario } = options;
    const { segmentSeconds, browser } = scenario;
    const { stallLevelSeconds } = browser;
    const { segmentCount, startSeconds } = this;
    this._idealLink = linkOf(trace, scenario).from(startSeconds, 0);
    this._chunkCount = Math.round(segmentSeconds / _stream.chunkSeconds);
    this._streamEndsAtSeconds = liveSessionSeconds({ ...scenario, live: _stream, segmentCount });
    this.playback = new LivePlayback({
      live: _stream,
      catchUp: options.catchUp ?? 'default',
      stallLevelSeconds,
      begun: (atSeconds) => this._catchUpFrom(atSeconds),
    });
  }

  protected join(): void {
    this.at(this._streamEndsAtSeconds, () => {});
    this.at(LIVE_PAGE.joinSeconds, () => this.playback.seekTo(this._stream.targetLatencySeconds));
    this.at(LIVE_PAGE.joinSeconds + LIVE_PAGE.setUpSeconds, () => this.begin(this._indexAtPosition()));
  }

  /** Repeats from the first picture on. */
  private _catchUpFrom(seconds: number): void {
    this.at(seconds + CATCH_UP_PERIOD_SECONDS, () => {
      if (this.playback.catchUp()) this._rejoin();
      this._catchUpFrom(this.nowSeconds);
    });
  }

  protected endsAtSeconds(): number {
    return this._streamEndsAtSeconds;
  }

  protected bufferedUntilSeconds(): number {
    return Math.max(this.playback.positionSeconds, this.playback.bufferedUntilSeconds);
  }

  /** In low latency dash.js compares the level alone with its target. */
  protected lookFor(index: number): void {
    if (index >= this.segmentCount) return;
    const look = () => {
      const { playback, scenario } = this;
      const added = this._hasChunks ? 0 : scenario.segmentSeconds;
      const excessSeconds = playback.bufferLevelSeconds + added - scenario.bufferCapSeconds;
      if (excessSeconds < 0) this.choose();
      else this.soon(this.nowSeconds + excessSeconds / playback.playbackRate + this._pollSeconds, look);
    };
    if (this.rows.length === 0) look();
    else this.soon(this.nowSeconds + this.scenario.browser.requestGapSeconds, look);
  }

  protected missingSeconds(index: number): number {
    const missing = this._existsAtSeconds(index, 0) - this.nowSeconds;
    return missing > 0 ? missing + this._pollSeconds : 0;
  }

  protected newFlight(index: number, sizeBits: number): ChunkedFlight {
    const { playback, scenario, _chunkCount: chunkCount, _stream: stream } = this;
    const flight = new ChunkedFlight(this.access.shareOf(this._idealLink), {
      requestedAtSeconds: this.nowSeconds,
      rttSeconds: scenario.rttSeconds,
      sizeBits,
      chunks: Array.from({ length: chunkCount }, (_, chunk) => {
        return { existsAtSeconds: this._existsAtSeconds(index, chunk), bits: sizeBits / chunkCount };
      }),
      responseSeconds: (bits) => this.responseSeconds(bits),
    });
    playback.expect(
      flight.transfers.map((transfer, chunk) => ({
        transfer,
        responseSeconds: this.responseSeconds(transfer.bits),
        appendSeconds: scenario.browser.appendSeconds,
        untilMediaSeconds: index * scenario.segmentSeconds + (chunk + 1) * stream.chunkSeconds,
      })),
    );
    return flight;
  }

  /** Reads each chunk in small parts while it arrives. */
  protected read(flight: ChunkedFlight): void {
    const { flow } = this;
    const period = this._hasChunks ? LIVE_PAGE.readChunksSeconds : LIVE_PAGE.readWholeSeconds;
    const next = () => {
      const { nowSeconds } = this;
      // This player's times are differences of the queue's times, and so rounded.
      const transfer = flight.transfers.find(({ endSeconds }) => endSeconds > nowSeconds + ROUNDING_SECONDS);
      if (transfer === undefined) this.soon(flight.endsAtSeconds, () => this.complete());
      else if (transfer.endSeconds < Number.POSITIVE_INFINITY || transfer.startSeconds <= nowSeconds) {
        const { startSeconds, endSeconds } = transfer;
        const seconds = nowSeconds - startSeconds;
        const isFirst = this._hasChunks && nextStep(seconds, LIVE_PAGE.firstReadSeconds) <= 1;
        const step = isFirst ? LIVE_PAGE.firstReadSeconds : Math.max(1, nextStep(seconds, period)) * period;
        const at = Math.min(startSeconds + step, endSeconds);
        this.soon(at, () => {
          const chunks = this._hasChunks ? Number(at >= endSeconds) : undefined;
          flow.progressed(flight, { totalBits: flight.deliveredBits(at), ...(chunks !== undefined && { chunks }) });
          next();
        });
      }
    };
    next();
  }

  protected override giveUp(): number {
    const bits = super.giveUp();
    this.playback.dropAppendsAfter(this.nowSeconds + this.scenario.browser.appendSeconds);
    return bits;
  }

  protected appended(): void {
    // `LivePlayback` has appended the chunks.
  }

  protected live(index: number): LiveMedia {
    const { segmentSeconds } = this.scenario;
    return { ...this._time(), startSeconds: index * segmentSeconds, segmentSeconds };
  }

  position(): LivePosition {
    const { playback, _stream: stream } = this;
    const { targetLatencySeconds, playbackRates = DEFAULT_PLAYBACK_RATES } = stream;
    return {
      ...this._time(),
      latencySeconds: playback.started
        ? playback.latencySeconds
        : Math.min(playback.latencySeconds, targetLatencySeconds),
      targetLatencySeconds,
      playbackRates,
      maxLatencySeconds: targetLatencySeconds + MAX_DRIFT_SECONDS,
      isPaceable: this.options.catchUp === undefined,
    };
  }

  /** A player does not see the end of a live stream. */
  protected override get period(): Period {
    return { ...super.period, segmentCount: Number.POSITIVE_INFINITY };
  }

  protected override get bufferCapSeconds(): number {
    return super.bufferCapSeconds + (this._hasChunks ? this.scenario.segmentSeconds : 0);
  }

  override result(): SessionResult {
    const { playback, scenario, rows } = this;
    const unseen: PlaybackPiece = {
      seconds: playback.startupSeconds,
      latencySeconds: this._stream.targetLatencySeconds,
      rate: 1,
      isStalled: true,
    };
    return super.result({
      live: liveMetrics({
        history: playback.history.length > 0 ? playback.history : [unseen],
        bitratesBps: rows.map(({ bitrateBps }) => bitrateBps),
        segmentSeconds: scenario.segmentSeconds,
        ladderBps: scenario.ladderBps,
        jumps: playback.jumps,
      }),
    });
  }

  /** After a jump, gives up the download and continues with the segment at the new position. */
  private _rejoin(): void {
    this.flow.sought();
    this.giveUp();
    this.begin(this._indexAtPosition());
  }

  /** The manifest announces the sum of the first chunk's end and the encoder's latency. */
  private _time() {
    const { nowSeconds, _stream: stream } = this;
    return { nowSeconds: nowSeconds + stream.timeShiftSeconds, firstChunkSeconds: encoderEdgeSeconds(stream) };
  }

  private get _hasChunks(): boolean {
    return this._chunkCount > 1;
  }

  private get _pollSeconds(): number {
    return this._hasChunks ? LIVE_PAGE.lowLatencyLateSeconds : LIVE_PAGE.lateSeconds;
  }

  private _existsAtSeconds(segmentIndex: number, chunkIndex: number): number {
    const { segmentSeconds } = this.scenario;
    return chunkExistsAtSeconds({ segmentSeconds, live: this._stream }, { segmentIndex, chunkIndex });
  }

  private _indexAtPosition(): number {
    return Math.floor(this.playback.positionSeconds / this.scenario.segmentSeconds);
  }
}
