/** A stand-in for dash.js: its settings, custom rules, and the context of a rule's call; and the plugin attached to it. */

import { wait } from '../../session/scripted.fixture.ts';
import {
  heard,
  LADDER_BPS,
  merge,
  type OptionsWith,
  ranges,
  SEGMENT_SECONDS,
  SEGMENTS,
  type Sent,
  StandIn,
} from '../../session/stand-in.fixture.ts';
import { attachLeoAbr, type LeoAbrOptions } from '../index.ts';
import type { DashPlayer } from './player.ts';

/** The part of dash.js 5.2.1's default settings that the plugin reads. */
function defaultSettings() {
  const rule = (active: boolean) => ({ active, priority: 0.5 });
  return {
    streaming: {
      cacheInitSegments: false,
      cmcd: { enabled: false },
      delay: { liveDelay: Number.NaN },
      liveCatchup: { enabled: null as boolean | null, maxDrift: NaN, playbackRate: { min: NaN, max: NaN } },
      buffer: { fastSwitchEnabled: null as boolean | null, bufferTimeDefault: 18, bufferTimeAtTopQuality: 30 },
      abr: {
        hybridSwitchBufferTime: 12 as number | undefined,
        rules: {
          throughputRule: rule(true),
          bolaRule: rule(true),
          insufficientBufferRule: rule(true),
          switchHistoryRule: rule(true),
          droppedFramesRule: rule(false),
          abandonRequestsRule: rule(true),
          l2ARule: rule(false),
          loLPRule: rule(false),
        },
        throughput: { useResourceTimingApi: true },
        initialBitrate: { video: -1 },
        autoSwitchBitrate: { video: true },
      },
    },
  };
}

interface SwitchRule {
  getClassName(): string;
  getSwitchRequest(context: object): { representation: { id: string } | null };
}

/** The representations of a period of `count` segments. */
export function fakeVideo(count = SEGMENTS, period: object = {}) {
  const duration = count * SEGMENT_SECONDS;
  const streamInfo = { id: 'p0', start: 0, duration, manifestInfo: { isDynamic: false, duration }, ...period };
  return LADDER_BPS.map((bandwidth, i) => ({
    id: `v${i}`,
    bandwidth,
    segmentDuration: SEGMENT_SECONDS,
    fragmentDuration: SEGMENT_SECONDS as number | null,
    availabilityTimeOffset: 0,
    mediaFinishedInformation: { numberOfSegments: count },
    mediaInfo: { type: 'video', streamInfo },
  }));
}

export class FakePlayer extends StandIn {
  readonly settings = defaultSettings();
  readonly updates: object[] = [];
  rules: { type: string; rulename: string; rule: (context: object) => { create(): SwitchRule } }[] = [];
  instances: SwitchRule[] = [];
  representations = fakeVideo();
  current = 0;
  bufferTarget = 18;
  /** The page allows this many of the lowest. */
  bitrateLimit = Number.POSITIVE_INFINITY;
  live: { isLowLatency: boolean; targetSeconds: number } | undefined;
  readonly qualitySet: { id: string; reason: object }[] = [];
  /** dash.js's next requests are for the segments at these positions. */
  readonly repeatedSeconds: number[] = [];
  /** Requests that dash.js would not have aborted. */
  readonly aborted: object[] = [];
  /** dash.js asks its rules before the next request. */
  isAsking = true;
  private readonly _sent = new WeakMap<object, object>();
  private _levelSeconds = 0;
  private _chosen = 0;

  getVersion = () => '5.2.1';
  getCurrentLiveLatency = () => (this.live ? 100 - this.media.currentTime : Number.NaN);
  getSettings = () => this.settings;
  getABRCustomRules = () => this.rules;
  on = this.addEventListener;
  off = this.removeEventListener;
  getVideoElement = () => this.media;

  updateSettings = (update: object) => {
    this.updates.push(update);
    merge(update, this.settings);
  };

  addABRCustomRule = (type: string, rulename: string, rule: never) => void this.rules.push({ type, rulename, rule });
  removeABRCustomRule = (rulename: string) => {
    this.rules = this.rules.filter((rule) => rule.rulename !== rulename);
  };

  interceptors: ((outgoing: object) => Promise<object>)[] = [];
  addRequestInterceptor = (one: never) => void this.interceptors.push(one);
  removeRequestInterceptor = (one: never) => {
    this.interceptors = this.interceptors.filter((other) => other !== one);
  };

  get left(): number {
    return this.listenerCount + this.rules.length + this.interceptors.length;
  }

  get bufferLevelSeconds(): number {
    return this._levelSeconds;
  }

  set bufferLevelSeconds(bufferLevel: number) {
    this._levelSeconds = bufferLevel;
    const { id: streamId } = this.representations[0]!.mediaInfo.streamInfo;
    this.emit('bufferLevelUpdated', { mediaType: 'video', streamId, bufferLevel });
  }

  setAdaptive(isAdaptive: boolean): void {
    this.settings.streaming.abr.autoSwitchBitrate.video = isAdaptive;
  }

  override plays(): void {
    this.emit('playbackPlaying');
  }

  override seeks(seconds: number): void {
    this.media.currentTime = seconds;
    this.emit('playbackSeeking');
  }

  nextSource(): void {
    this.emit('streamTeardownComplete');
    this._levelSeconds = 0;
  }

  /** dash.js does this at the start of a stream, and again whenever one of its rules is switched on or off. */
  instantiateRules(): void {
    this.instances.push(...this.rules.map(({ rule }) => rule({}).create()));
  }

  rulesContext(mediaType = 'video') {
    const { representations } = this;
    const period = representations[0]!.mediaInfo.streamInfo;
    const processor = {
      getType: () => 'video',
      getRepresentationController: () => null,
      setExplicitBufferingTime: (seconds: number) => void this.repeatedSeconds.push(seconds),
    };
    const stream = { getStreamProcessors: () => [processor] };
    const streams = { getActiveStreamInfo: () => period, getStreamById: () => stream };
    return {
      getMediaType: () => mediaType,
      getMediaInfo: () => representations[0]!.mediaInfo,
      getStreamInfo: () => period,
      getRepresentation: () => representations[this.current]!,
      getScheduleController: () => ({
        getBufferTarget: () => this.bufferTarget,
        setShouldCheckPlaybackQuality: (isAsking: boolean) => {
          this.isAsking = isAsking;
        },
        getPlaybackController: () => ({
          getStreamController: () => streams,
          getLowLatencyModeEnabled: () => this.live?.isLowLatency ?? false,
          getLiveDelay: () => this.live?.targetSeconds,
          getInitialCatchupModeActivated: () => this.live?.isLowLatency ?? false,
        }),
      }),
      getAbrController: () => ({
        // dash.js sorts by quality, not by bitrate.
        getPossibleVoRepresentations: () => [...representations].reverse(),
        getPossibleVoRepresentationsFilteredBySettings: () => representations.slice(0, this.bitrateLimit).reverse(),
        setPlaybackQuality: (_: string, __: object, { id }: { id: string }, reason: object) =>
          this.qualitySet.push({ id, reason }),
      }),
    };
  }

  /** The choice of our rule's instances; throws if more than one has a choice. */
  ask(): number | undefined {
    const answers = this.instances.map((rule) => rule.getSwitchRequest(this.rulesContext()).representation);
    const [opinion, ...more] = answers.filter((answer) => answer !== null);
    if (more.length > 0) throw new Error('more than one instance has an opinion');
    if (!opinion) return undefined;
    this._chosen = this.representations.findIndex(({ id }) => id === opinion.id);
    return this._chosen;
  }

  load(): void {
    this.ask();
  }

  abandon(sent: Sent): number {
    const { id } = this.qualitySet.pop()!;
    sent.aborted();
    this._chosen = this.representations.findIndex((one) => one.id === id);
    return this._chosen;
  }

  /** Makes a request like dash.js's and triggers its `fragmentLoadingStarted`. */
  send(index: number, representation = this._chosen, more: object = {}) {
    const ended = (type: string, event: object = {}) => {
      request.endDate = new Date();
      this.emit(type, { request, ...event });
    };
    const request = {
      type: 'MediaSegment',
      mediaType: 'video',
      url: `${this.server}/${index}.m4s`,
      index,
      startTime: index * SEGMENT_SECONDS,
      duration: SEGMENT_SECONDS,
      range: null as string | null,
      representation: this.representations[representation]!,
      bytesLoaded: Number.NaN,
      bytesTotal: Number.NaN,
      startDate: new Date(),
      endDate: null as Date | null,
      arrived: (bits: number) => {
        request.bytesLoaded = bits / 8;
        this.emit('loadingProgress', { request });
      },
      completed: (bits: number) => {
        request.bytesLoaded = request.bytesTotal = bits / 8;
        ended('fragmentLoadingCompleted');
      },
      failed: () => ended('fragmentLoadingCompleted', { error: new Error('404') }),
      aborted: () => ended('fragmentLoadingAbandoned'),
      ...more,
    };
    this.emit('fragmentLoadingStarted', { request });
    this.attempt(request);
    return request;
  }

  /** The server answers with an error, whose text dash.js reads; it pauses, and makes its next attempt. */
  refuse(request: { url: string; arrived(bits: number): void }): void {
    request.arrived(1000);
    this.emit('metricAdded', { metric: 'HttpList', value: { url: request.url, responsecode: 404 } });
  }

  /** dash.js's next attempt at the request. */
  attempt(request: object): void {
    Object.assign(request, { startDate: new Date(), bytesLoaded: Number.NaN, bytesTotal: Number.NaN });
    const copied = { cmcd: {}, abort: () => void this.aborted.push(request) };
    const customData = { request, ...(this.settings.streaming.cmcd.enabled && copied) };
    for (const intercept of this.interceptors) void intercept({ customData });
    this._sent.set(request, customData);
  }

  /** In low-latency mode, a whole chunk arrives: dash.js reads its bytes, and then says so. */
  chunk(request: object, response: ArrayBuffer): void {
    const value = new Uint8Array(response);
    // biome-ignore lint/suspicious/noThenProperty: as a promise, but at once.
    const part = { then: (read: (part: object) => void) => read({ value }) };
    const customData = Object.assign(this._sent.get(request)!, { reader: { read: () => part } });
    customData.reader.read();
    this.emit('fragmentLoadingProgress', { request, response });
  }
}

/** From a segment's start to its first chunk, in the live stream. */
export const FIRST_CHUNK_SECONDS = 0.55;

/** The stream began 100 s ago; the player is at 97 s, and its target is 3 s. */
export function livePlayer({ offsetMs = 0, lowLatency = true }: { offsetMs?: number; lowLatency?: boolean } = {}) {
  const player = new FakePlayer();
  const availableFrom = new Date(Date.now() + offsetMs - 100_000);
  const manifestInfo = { isDynamic: true, duration: NaN, availableFrom };
  const period = { duration: Number.POSITIVE_INFINITY, manifestInfo };
  player.representations = fakeVideo(10, period).map((one) => ({
    ...one,
    segmentDuration: 2,
    availabilityTimeOffset: lowLatency ? 2 - FIRST_CHUNK_SECONDS : -0.3,
  }));
  player.bufferTarget = 60;
  player.live = { isLowLatency: lowLatency, targetSeconds: lowLatency ? 3 : 8 };
  Object.assign(player.media, { currentTime: lowLatency ? 97 : 92, buffered: ranges([[90, 98]]) });
  return player;
}

export const asPlayer = (fake: FakePlayer) => fake as unknown as DashPlayer;

export function attached<C extends LeoAbrOptions['controller']>(
  options: OptionsWith<C> = {},
  player = new FakePlayer(),
) {
  const seen = heard(attachLeoAbr(asPlayer(player), { logger: null, ...options }));
  player.instantiateRules();
  return { ...seen, controller: options.controller as C, player };
}

/** A live stream plays at its target; the controller has been asked for its pace, if it has one. */
export function playLive<C extends LeoAbrOptions['controller']>(
  options: OptionsWith<C>,
  prepare: (player: FakePlayer) => void = () => {},
) {
  const player = livePlayer();
  prepare(player);
  const before = structuredClone(player.settings);
  const seen = attached(options, player);
  player.emit('updateTimeSyncOffset', { offset: 0 });
  player.plays();
  player.ask();
  player.send(49, 0, { startTime: 98, duration: 2 });
  wait(0.1);
  const catchUp = () => player.settings.streaming.liveCatchup.enabled;
  return { ...seen, before, catchUp, edge: () => 100 };
}
