/** A fake dash.js player: its event bus, settings, custom rules, and the context of a rule's call. */

import type { DashPlayer } from './player.ts';

/** The part of dash.js 5.2.1's default settings that the plugin reads. */
function defaultSettings() {
  const rule = (active: boolean) => ({ active, priority: 0.5 });
  return {
    streaming: {
      cacheInitSegments: false,
      cmcd: { enabled: false },
      delay: { liveDelay: Number.NaN },
      liveCatchup: {
        enabled: null as boolean | null,
        maxDrift: Number.NaN,
        playbackRate: { min: Number.NaN, max: Number.NaN },
      },
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

interface Rule {
  getSwitchRequest(context: object): {
    representation: { id: string } | null;
    priority: number;
    reason?: { message: string };
  };
}

export interface FakeRepresentation {
  id: string;
  bandwidth: number;
  segmentDuration: number;
  fragmentDuration: number | null;
  mediaFinishedInformation: { numberOfSegments: number };
  mediaInfo: { type: string; streamInfo: FakePeriod };
  segments?: { mediaRange?: string }[];
  availabilityTimeOffset?: number;
}

export interface FakePeriod {
  id: string;
  start: number;
  duration: number;
  manifestInfo: { isDynamic: boolean; duration: number; availableFrom?: Date; serviceDescriptions?: object[] };
}

/** `count` segments of 4 s at 1, 2 and 4 Mbit/s. */
export function fakeVideo(count = 10, period: Partial<FakePeriod> = {}): FakeRepresentation[] {
  const streamInfo = {
    id: 'p0',
    start: 0,
    duration: count * 4,
    manifestInfo: { isDynamic: false, duration: count * 4 },
    ...period,
  };
  return [1e6, 2e6, 4e6].map((bandwidth, i) => ({
    id: `v${i}`,
    bandwidth,
    segmentDuration: 4,
    fragmentDuration: 4,
    mediaFinishedInformation: { numberOfSegments: count },
    mediaInfo: { type: 'video', streamInfo },
  }));
}

export class FakePlayer {
  readonly settings = defaultSettings();
  readonly updates: object[] = [];
  rules: { type: string; rulename: string; rule: (context: object) => { create(): Rule } }[] = [];
  instances: Rule[] = [];
  representations = fakeVideo();
  current = 0;
  bufferTarget = 18;
  live: { isLowLatency: boolean; targetSeconds: number; originalSeconds?: number } | undefined;
  element: { currentTime: number; buffered: TimeRanges; playbackRate?: number } | undefined = {
    currentTime: 0,
    buffered: ranges([]),
  };
  readonly qualitySet: { id: string; reason: object }[] = [];
  readonly #listeners = new Map<string, ((event: object) => void)[]>();
  readonly #sent = new WeakMap<object, object>();

  getVersion = () => '5.2.1';
  getCurrentLiveLatency = () => (this.live ? 100 - (this.element?.currentTime ?? 0) : Number.NaN);
  getSettings = () => this.settings;
  getABRCustomRules = () => this.rules;
  getVideoElement = () => {
    if (this.element === undefined) throw 'no element';
    return this.element;
  };

  updateSettings = (update: object) => {
    this.updates.push(update);
    merge(update, this.settings);
  };

  addABRCustomRule = (type: string, rulename: string, rule: never) => {
    this.rules.push({ type, rulename, rule });
  };

  removeABRCustomRule = (rulename: string) => {
    this.rules = this.rules.filter((rule) => rule.rulename !== rulename);
  };

  interceptors: ((outgoing: object) => Promise<object>)[] = [];
  addRequestInterceptor = (one: never) => {
    this.interceptors.push(one);
  };
  removeRequestInterceptor = (one: never) => {
    this.interceptors = this.interceptors.filter((other) => other !== one);
  };

  on = (type: string, listener: (event: object) => void) => {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  };

  off = (type: string, listener: (event: object) => void) => {
    this.#listeners.set(
      type,
      (this.#listeners.get(type) ?? []).filter((one) => one !== listener),
    );
  };

  trigger(type: string, event: object = {}): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener(event);
  }

  get listenerCount(): number {
    return [...this.#listeners.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** dash.js does this at the start of a stream, and again whenever one of its rules is switched on or off. */
  instantiateRules(): void {
    this.instances.push(...this.rules.map(({ rule }) => rule({}).create()));
  }

  rulesContext(mediaType = 'video', currentRequest?: object) {
    const { representations } = this;
    const period = representations[0]!.mediaInfo.streamInfo;
    const controller = { getRepresentationById: (id: string) => representations.find((one) => one.id === id) ?? null };
    const processor = { getType: () => 'video', getRepresentationController: () => controller };
    const streams = {
      getActiveStreamInfo: () => period,
      getStreamById: () => ({ getStreamProcessors: () => [processor] }),
    };
    return {
      getMediaType: () => mediaType,
      getMediaInfo: () => representations[0]!.mediaInfo,
      getStreamInfo: () => period,
      getRepresentation: () => representations[this.current]!,
      getCurrentRequest: () => currentRequest,
      getScheduleController: () => ({
        getBufferTarget: () => this.bufferTarget,
        getPlaybackController: () => ({
          getStreamController: () => streams,
          getLowLatencyModeEnabled: () => this.live?.isLowLatency ?? false,
          getLiveDelay: () => this.live?.targetSeconds,
          getOriginalLiveDelay: () => this.live?.originalSeconds ?? this.live?.targetSeconds,
          getInitialCatchupModeActivated: () => this.live?.isLowLatency ?? false,
        }),
      }),
      getAbrController: () => ({
        // dash.js sorts by quality, not by bitrate.
        getPossibleVoRepresentationsFilteredBySettings: () => [...representations].reverse(),
        setPlaybackQuality: (_: string, __: object, { id }: { id: string }, reason: object) =>
          this.qualitySet.push({ id, reason }),
      }),
    };
  }

  /** The choice of our rule's instances; throws if more than one has a choice. */
  ask(mediaType = 'video'): string | null {
    const answers = this.instances.map((rule) => rule.getSwitchRequest(this.rulesContext(mediaType)).representation);
    const opinions = answers.filter((answer) => answer !== null);
    if (opinions.length > 1) throw new Error('more than one instance has an opinion');
    return opinions[0]?.id ?? null;
  }

  /** Makes a request like dash.js's and triggers its `fragmentLoadingStarted`. */
  request(index: number, representation = 0, more: object = {}) {
    const request = {
      type: 'MediaSegment',
      mediaType: 'video',
      index,
      startTime: index * 4,
      duration: 4,
      range: null as string | null,
      representation: this.representations[representation]!,
      bytesLoaded: Number.NaN,
      bytesTotal: Number.NaN,
      startDate: null as Date | null,
      endDate: null as Date | null,
      ...more,
    };
    this.trigger('fragmentLoadingStarted', { request });
    this.send(request);
    return request;
  }

  /** dash.js's next attempt at the request. */
  send(request: object): void {
    const customData = { request };
    for (const intercept of this.interceptors) void intercept({ customData });
    this.#sent.set(request, customData);
  }

  /** In low-latency mode, a whole chunk arrives: dash.js reads its bytes, and then says so. */
  chunk(request: object, response: ArrayBuffer): void {
    const value = new Uint8Array(response);
    // biome-ignore lint/suspicious/noThenProperty: as a promise, but at once.
    const part = { then: (read: (part: object) => void) => read({ value }) };
    const customData = Object.assign(this.#sent.get(request)!, { reader: { read: () => part } });
    customData.reader.read();
    this.trigger('fragmentLoadingProgress', { request, response });
  }
}

/** From a segment's start to its first chunk, in the live stream. */
export const FIRST_CHUNK_SECONDS = 0.55;

/** The stream began 100 s ago; the player is at 97 s, and its target is 3 s. */
export function livePlayer(more: { offsetMs?: number; lowLatency?: boolean } = {}) {
  const { offsetMs = 0, lowLatency = true } = more;
  const player = new FakePlayer();
  const availableFrom = new Date(Date.now() + offsetMs - 100_000);
  const period = {
    duration: Number.POSITIVE_INFINITY,
    manifestInfo: { isDynamic: true, duration: NaN, availableFrom },
  };
  player.representations = fakeVideo(10, period).map((one) => ({
    ...one,
    segmentDuration: 2,
    availabilityTimeOffset: lowLatency ? 2 - FIRST_CHUNK_SECONDS : -0.3,
  }));
  player.bufferTarget = 60;
  player.live = { isLowLatency: lowLatency, targetSeconds: lowLatency ? 3 : 8 };
  player.element = { currentTime: lowLatency ? 97 : 92, buffered: ranges([[90, 98]]), playbackRate: 1 };
  return player;
}

export function asPlayer(fake: FakePlayer): DashPlayer {
  return fake as unknown as DashPlayer;
}

export function ranges(pairs: [start: number, end: number][]): TimeRanges {
  return { length: pairs.length, start: (i) => pairs[i]![0], end: (i) => pairs[i]![1] };
}

function merge(update: object, into: object): void {
  for (const [key, value] of Object.entries(update)) {
    const target = into as Record<string, unknown>;
    if (typeof value === 'object' && value !== null) merge(value, target[key] as object);
    else target[key] = value;
  }
}
