/**
 * Shared by the playback tests: an origin that paces media over an invented link, pages with a real player and the
 * plugin built from the current sources, and helpers inside the page (`window.lab`).
 */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, test as base, expect, type Page } from '@playwright/test';
import type { MediaPlayerClass } from 'dashjs';
import type HlsPlayer from 'hls.js';
import type { HlsConfig } from 'hls.js';
import type shaka5 from 'shaka-player';
import type shaka4 from 'shaka-player-4';
import type { Download } from '../../abr/controller.ts';
import { MAX_REPRESENTATIONS } from '../../replay/media/clips.ts';
import type { Clip } from '../../replay/media/fixture.ts';
import { type RunningOrigin, type SessionSpec, startOrigin } from '../../replay/origin/index.ts';
import type { ResolvedScenario } from '../../replay/results.ts';
import type { LiveStream, Scenario } from '../../replay/scenarios.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { EXACT, traceUntil } from '../../replay/simulator/made-up.fixture.ts';
import type * as leoAbrHls from '../../src/hls.ts';
import type * as leoAbr from '../../src/index.ts';
import type * as leoAbrShaka from '../../src/shaka.ts';
import { built } from '../builds.ts';
import { type Engine, isOld, startEngine, toEs2018 } from '../engines/index.ts';
import { vp9Clips } from '../zoo/vp9.ts';

const requireHere = createRequire(import.meta.url);
/** Finds players beside the file `LEO_ABR_PLAYERS` (`npm run e2e:next`) if the variable is set. */
const newest = createRequire(process.env['LEO_ABR_PLAYERS'] ?? import.meta.url);
const dashDebug = newest.resolve('dashjs').replace(/dash\.all\.min\.js$/, 'dash.all.debug.js');
const [hls17, shakaNew] = ['hls.js/dist/hls.min.js', 'shaka-player'].map((name) => newest.resolve(name)) as [
  string,
  string,
];

/** Each player's library, and the mode of `vite.config.ts` that builds the plugin's file for it. */
const PLAYERS = {
  dash: [dashDebug, 'plugin', 'leo-abr.global.js'],
  'hls.js': [hls17, 'plugin-hls', 'leo-abr.hls.js'],
  'hls.js 1.6': [requireHere.resolve('hls.js-1.6/dist/hls.min.js'), 'plugin-hls', 'leo-abr.hls.js'],
  'Shaka 5': [shakaNew, 'plugin-shaka', 'leo-abr.shaka.js'],
  'Shaka 4': [requireHere.resolve('shaka-player-4'), 'plugin-shaka', 'leo-abr.shaka.js'],
  'dash as ES2015': [dashDebug.replace('modern', 'legacy'), 'plugin-legacy', 'leo-abr.legacy.global.js'],
  'hls.js as ES2015': [hls17, 'plugin-hls-legacy', 'leo-abr.hls.legacy.global.js'],
  'Shaka as ES2015': [shakaNew, 'plugin-shaka-legacy', 'leo-abr.shaka.legacy.global.js'],
} as const;
export type LabPlayerName = keyof typeof PLAYERS;
/** Older players have one test of each kind, in Chromium only. */
export const isOlder = (name: LabPlayerName) => /1.6|4/.test(name);
const slug = (name: string) => name.replaceAll(' ', '-');

export { expect };

/** `rung` counts representations from the lowest. Only dash.js has a `streamId`. */
export type SentRequest = { streamId?: string; index: number; representationId: string; rung: number };

/** A player in the page, and the record of its session. */
export interface LabPlayer<Player = MediaPlayerClass> {
  player: Player;
  video: HTMLVideoElement;
  handle: leoAbr.LeoAbrHandle;
  decisions: leoAbr.DecisionEvent[];
  paces: leoAbr.PaceEvent[];
  faults: leoAbr.FaultEvent[];
  /** Requests for video segments. */
  requests: SentRequest[];
  /** Widths of the pictures on screen, in order. */
  widths: number[];
  /** Errors of hls.js. Empty for other players. */
  errors: string[];
}

export type ShakaModule = typeof shaka5 | typeof shaka4;
/** Both versions must fit the plugin's types. */
type ShakaLabPlayer = shaka5.Player | shaka4.Player;

export interface StartOptions {
  /** A DASH manifest. hls.js plays the playlist beside it. */
  manifest?: string;
  /** Default of `abandon`: false, because a busy host looks like an outage, and an abandonment is a second decision. */
  options?: leoAbr.LeoAbrOptions;
  /** If true, the player has no plugin and the result has no handle. */
  isPlain?: boolean;
  /** Called before the player loads. */
  before?(lab: LabPlayer<never>): void;
  /** The player's settings, applied before the plugin is attached. */
  settings?: object;
  width?: number;
  height?: number;
  /** If true, the end of a live stream is hidden. If Shaka 4 knows the end, it plays from the start. */
  isEndless?: boolean;
}

export interface Lab {
  players: LabPlayer<never>[];
  /** Makes a dash.js player with the plugin, and loads a manifest if the options have one. */
  start(options: StartOptions): LabPlayer;
  startHls(options: StartOptions): LabPlayer<HlsPlayer>;
  startShaka(options?: StartOptions): Promise<LabPlayer<ShakaLabPlayer> & { factory: leoAbrShaka.LeoAbrFactory }>;
  /** Starts the page's player. */
  play(options: StartOptions): Promise<LabPlayer<unknown>>;
  /** Waits until `condition` holds for a player, by default the first one. Fails with a description after 40 s. */
  until<Player = MediaPlayerClass>(
    what: string,
    condition: (lab: LabPlayer<Player>) => unknown,
    of?: LabPlayer<Player>,
  ): Promise<void>;
}

declare global {
  interface Window {
    lab: Lab;
    clocks: ClockFaults;
    dashjs?: { MediaPlayer(): { create(): MediaPlayerClass } };
    Hls: typeof HlsPlayer;
    shaka?: ShakaModule;
    LeoAbr: typeof leoAbr & typeof leoAbrHls & typeof leoAbrShaka;
  }
}

type OfScenario = 'ladderBps' | 'segmentSeconds' | 'segmentCount' | 'rttSeconds' | 'sizeSpread' | 'live';

/** A link and its media; the defaults make a short session, on demand. */
export interface StreamOptions
  extends Partial<Pick<Scenario, OfScenario>>,
    Partial<Pick<ResolvedScenario, 'segmentSizesBits'>>,
    Pick<SessionSpec, 'media' | 'delivery' | 'presentation'> {
  /** Rates in bit/s by the second at which each ends. The last rate continues. Default: 8 Mbit/s throughout. */
  link?: Record<number, number>;
  /** UTC of the link's second 0. Default: unknown. */
  startUtcMs?: number;
}

/** A live stream with this target latency. */
export const liveStream = (targetLatencySeconds: number, changes: Partial<LiveStream> = {}): LiveStream => ({
  ...{ chunkSeconds: 0.25, encoderLatencySeconds: 0.3, timeShiftSeconds: 40 },
  targetLatencySeconds,
  ...changes,
});

export const LADDER_BPS = [300e3, 1e6, 2.5e6, 5e6];
/** Width of the test picture of video-0, video-1 ... */
export const PICTURE_WIDTHS = [64, 96, 128, 160];
const SHORT = { name: 'e2e', ladderBps: LADDER_BPS, segmentSeconds: 1, segmentCount: 8, rttSeconds: 0.02 };

interface LabFixtures {
  /** The player in the page of the lab. Default: dash.js with the main entry. */
  playerName: LabPlayerName;
  /** Additional or replaced files by path. An option of the worker would start a browser for each file of tests. */
  files: ServedFiles;
  origin: RunningOrigin;
  /** Serves a stream. Returns the URL of its folder, with a slash at its end. */
  stream(options?: StreamOptions): string;
  /** The page with `window.lab`, the player and the plugin. */
  labPage: Page;
  /** Evaluates a function in it with the manifest of a new stream. */
  onStream<Seen>(options: StreamOptions, act: (manifest: string) => Promise<Seen>): Promise<Seen>;
}

/** Tags a test that checks the plugin's faults itself. Other tests expect none. */
export const FAULTS = { tag: '@faults' };

/** Tags a test that also runs in other engines. Their pages have only `goto`, `reload`, `evaluate` (`e2e/engines/`). */
export const CORE = { tag: '@core' };
/** Excludes WebKit, where the plugin leaves the playback rate at 1 (`SAFARI_STEP` in `session/live/live-rate.ts`). */
export const CORE_WITH_CATCH_UP = { tag: [CORE.tag, '@catch-up'] };
/** Tags a test with AAC or a module Worker, which Chromium 68 and 72 lack. */
export const CORE_MODERN = { tag: [CORE.tag, '@modern'] };
export const CORE_WITH_FAULTS = { tag: [CORE.tag, FAULTS.tag] };

/** A file that the origin serves in addition to the streams. */
export type ServedFile = [type: string, body: string | Buffer, headers?: Record<string, string>];
/** Files by path. A function is called for each request. */
export type ServedFiles = Record<string, ServedFile | (() => Promise<ServedFile>)>;

function pageOf(name: LabPlayerName): string {
  const [, mode, file] = PLAYERS[name];
  const plugin = `${mode}.js`;
  const script = file.endsWith('.global.js')
    ? `<script src="${plugin}"></script>`
    : `<script type="module">import * as LeoAbr from './${plugin}'; window.LeoAbr = LeoAbr;</script>`;
  return `<!doctype html><script src="/lab.js"></script><script src="${slug(name)}.js"></script>${script}`;
}
export const LAB_HTML = pageOf('dash');

/** The files of the lab by path. The first request for a file makes it. */
function labFiles(engine: Engine | undefined): ServedFiles {
  const files: ServedFiles = { '/lab.js': ['text/javascript', toEs2018(`(${installLab})();`)] };
  for (const [name, [library, mode, file]] of Object.entries(PLAYERS)) {
    files[`/${name === 'dash' ? '' : `${slug(name)}.html`}`] = async () => ['text/html', pageOf(name as LabPlayerName)];
    const served = isOld(engine) ? library.replace('modern', 'legacy') : library;
    files[`/${slug(name)}.js`] = async () => ['text/javascript', await readFile(served)];
    files[`/${mode}.js`] = async () => ['text/javascript', built(mode, file)];
  }
  return files;
}

export interface WorkerFixtures {
  /** Default: Chromium. */
  engine: Engine | undefined;
  /** The worker's origin, which also serves `files`. */
  server: { origin: RunningOrigin; files: ServedFiles };
  /** Pictures in VP9 for an engine without H.264. The tests' Chromium encodes them. */
  clips: readonly Clip[] | undefined;
}

export const test = base.extend<LabFixtures, WorkerFixtures>({
  playerName: ['dash', { option: true }],
  engine: [undefined, { option: true, scope: 'worker' }],

  // These three replace Playwright's own fixtures, which know its engines only.
  browser: [
    async ({ engine, playwright }, use) => {
      const browser = engine === undefined ? await playwright.chromium.launch() : await startEngine(engine);
      await use(browser as Browser);
      await browser.close();
    },
    { scope: 'worker' },
  ],
  context: async ({ browser }, use) => {
    const context = await browser.newContext();
    await use(context);
    await context.close();
  },
  page: async ({ context }, use) => use(await context.newPage()),

  server: [
    async ({ engine }, use) => {
      const ofLab = labFiles(engine);
      const server: WorkerFixtures['server'] = {
        files: {},
        origin: await startOrigin({
          fallback(request, response) {
            const path = request.url ?? '';
            const file = server.files[path] ?? ofLab[path];
            if (file === undefined) return false;
            Promise.resolve(typeof file === 'function' ? file() : file).then(
              ([type, body, headers = {}]) => response.writeHead(200, { 'content-type': type, ...headers }).end(body),
              (error) => response.writeHead(500).end(String(error)),
            );
            return true;
          },
        }),
      };
      await use(server);
      await server.origin.close();
    },
    { scope: 'worker' },
  ],

  clips: [
    async ({ engine, playwright, server }, use) => {
      if (!isOld(engine)) return use(undefined);
      const browser = await playwright.chromium.launch();
      const page = await browser.newPage();
      await page.goto(server.origin.url);
      const clips = await vp9Clips(page, MAX_REPRESENTATIONS);
      await browser.close();
      await use(clips);
    },
    { scope: 'worker' },
  ],

  files: [{}, { option: true }],

  origin: async ({ server, files }, use) => {
    server.files = files;
    await use(server.origin);
  },

  stream: async ({ origin, clips }, use) => {
    const made: string[] = [];
    await use(({ media, ...options } = {}) => {
      const session = origin.createSession(sessionOf({ ...options, media: { ...media, ...(clips && { clips }) } }));
      made.push(session.id);
      return origin.manifestUrl(session).replace(/manifest\.mpd$/, '');
    });
    for (const id of made) origin.removeSession(id);
  },

  labPage: async ({ origin, page, playerName }, use, info) => {
    await page.goto(`${origin.url}/${playerName === 'dash' ? '' : `${slug(playerName)}.html`}`);
    await use(page);
    if (info.tags.includes(FAULTS.tag) || info.errors.length > 0) return;
    // A test may have left the lab's page.
    const faults = await page.evaluate(() => (window as Partial<Window>).lab?.players.map((lab) => lab.faults) ?? []);
    expect(faults.flat().map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
  },

  onStream: ({ labPage, stream }, use) =>
    use((options, act) => labPage.evaluate(act, `${stream(options)}manifest.mpd`)),
});

/** Describes the same tests for several players. A row has a player's name, then what the tests need. */
export function describePlayers<Row extends readonly [LabPlayerName, ...unknown[]]>(
  rows: readonly Row[],
  tests: (...row: Row) => void,
): void {
  for (const row of rows) {
    test.describe(row.filter((one) => typeof one === 'string').join(', '), () => {
      test.use({ playerName: row[0] });
      tests(...row);
    });
  }
}

/** Changes the text of all files at these paths on their way to the page. */
export async function editTexts(page: Page, paths: string, edit: (text: string) => string): Promise<void> {
  await page.route(paths, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: edit(await response.text()) });
  });
}

/**
 * Expects no forecast at the first decision, and built-in forecasts from the first decision after evidence. On a busy
 * page, a segment's events may all come at its end. They are no evidence, because latency and throughput look the same.
 */
export function expectBuiltInForecasts(decisions: readonly leoAbr.DecisionEvent[]): void {
  const sources = decisions.map(({ decision }) => decision.forecastSource);
  const without = sources.indexOf('built-in');
  expect(without, `forecasts of ${sources}`).toBeGreaterThan(0);
  expect(new Set(sources.slice(0, without))).toEqual(new Set([undefined]));
  // After a pause of the host, downloads may be too fast to measure, or the controller may reject the forecast.
  const measured = decisions
    .slice(without)
    .filter(({ state }) => state.downloads.some(({ downloadSeconds }) => downloadSeconds > 0.01));
  expect(new Set(measured.map(({ forecast }) => forecast?.source))).toEqual(new Set(['built-in']));
  const isEvidence = ({ downloadSeconds, latencySeconds = downloadSeconds }: Download) =>
    downloadSeconds - latencySeconds > 0.02;
  expect(decisions.slice(0, without).filter(({ state }) => state.downloads.some(isEvidence))).toEqual([]);
}

/** The values of CMCD in the page's requests for segments in this folder, in order. A request without CMCD has null. */
export function cmcdOf(page: Page, folder: string): Promise<(string | null)[]> {
  return page.evaluate((folder) => {
    const urls = performance.getEntriesByType('resource').map(({ name }) => new URL(name));
    const isSegment = ({ href, pathname }: URL) => href.startsWith(folder) && /video-\d+\/\d+\.m4s$/.test(pathname);
    return urls.filter(isSegment).map(({ searchParams }) => searchParams.get('CMCD'));
  }, folder);
}

/** A session of the origin: a stream over a link of 10 minutes. */
export function sessionOf(options: StreamOptions): SessionSpec {
  const { link = { 60: 8e6 }, startUtcMs, media, presentation, delivery = 'length', ...ofScenario } = options;
  const ends = Object.keys(link).map(Number);
  ends.sort((a, b) => a - b);
  const steps = [...ends, 600].map((until, i) => ({ until, mbps: link[ends[i] ?? ends.at(-1)!]! / 1e6 }));
  return {
    trace: traceUntil(steps, startUtcMs === undefined ? {} : { startUtcMs }),
    scenario: { ...SCENARIOS['pensieve-60']!, ...EXACT, ...SHORT, ...ofScenario },
    ...(media && { media }),
    ...(presentation && { presentation }),
    delivery,
  };
}

/** Shifts of the page's clocks, and the step of the monotonic clock. A step of 0 is the browser's. */
export type ClockFaults = Record<'wallOffsetMs' | 'monotonicOffsetMs' | 'monotonicStepMs', number>;

/** Runs in the page before its scripts, so that `window.clocks` shifts `Date` and `performance.now()`. */
export function installClocks(given: Partial<ClockFaults>): void {
  const clocks = { wallOffsetMs: 0, monotonicOffsetMs: 0, monotonicStepMs: 0, ...given };
  const RealDate = Date;
  const realNow = performance.now.bind(performance);
  const nowMs = () => RealDate.now() + clocks.wallOffsetMs;
  window.clocks = clocks;
  window.Date = new Proxy(RealDate, {
    construct: (target, args: [number]) => new target(...(args.length > 0 ? args : ([nowMs()] as const))),
    get: (target, name) => (name === 'now' ? nowMs : Reflect.get(target, name)),
  });
  performance.now = () => {
    const { monotonicOffsetMs, monotonicStepMs } = clocks;
    const atMs = realNow() + monotonicOffsetMs;
    return monotonicStepMs > 0 ? Math.floor(atMs / monotonicStepMs) * monotonicStepMs : atMs;
  };
}

/** Runs in the page as a script. */
function installLab(): void {
  const players: LabPlayer<never>[] = [];
  const videoOf = ({ width = 320, height }: StartOptions) => {
    const video = document.createElement('video');
    Object.assign(video, { muted: true, width, ...(height !== undefined && { height }) });
    document.body.append(video);
    return video;
  };
  /** Only mpc-l has the option `abandon`. */
  const quiet = ({ options }: StartOptions): leoAbr.LeoAbrOptions => ({
    ...{ logger: null, ...(options?.controller === undefined && { abandon: false }) },
    ...options,
  });
  const watch = <Player>(player: Player, video: HTMLVideoElement, handle: leoAbr.LeoAbrHandle | undefined) => {
    const lists = { decisions: [], paces: [], faults: [], requests: [], widths: [], errors: [] };
    const made: LabPlayer<Player> = { player, video, handle: handle!, ...lists };
    handle?.on('decision', (event) => made.decisions.push(event));
    handle?.on('pace', (event) => made.paces.push(event));
    handle?.on('fault', (event) => made.faults.push(event));
    video.addEventListener('resize', () => {
      // In WebKit the event also fires at the same size, and without a picture.
      const { videoWidth } = video;
      if (videoWidth > 0 && videoWidth !== made.widths[made.widths.length - 1]) made.widths.push(videoWidth);
    });
    players.push(made as LabPlayer<never>);
    return made;
  };
  const rungOf = (representationId: string) => Number(representationId.replace(/\D/g, ''));

  window.lab = {
    players,
    start({ manifest, isPlain = false, ...given }) {
      const video = videoOf(given);
      const player = window.dashjs!.MediaPlayer().create();
      if (given.settings !== undefined) player.updateSettings(given.settings);
      const made = watch(player, video, isPlain ? undefined : window.LeoAbr.attachLeoAbr(player, quiet(given)));
      player.on('fragmentLoadingStarted' as 'fragmentLoadingCompleted', ({ request, ...event }) => {
        if (request.type !== 'MediaSegment' || request.mediaType !== 'video') return;
        const { streamId } = event as unknown as { streamId: string };
        const { id } = request.representation!;
        made.requests.push({ streamId, index: request.index, representationId: id, rung: rungOf(id) });
      });
      given.before?.(made as LabPlayer<never>);
      if (manifest !== undefined) player.initialize(video, manifest, true);
      return made;
    },
    startHls({ manifest, isPlain = false, ...given }) {
      const video = videoOf(given);
      const abrController = isPlain ? undefined : window.LeoAbr.createLeoAbrController(quiet(given));
      const hls = new window.Hls({ ...(abrController && { abrController }), ...given.settings } as Partial<HlsConfig>);
      const made = watch(hls, video, abrController?.handle);
      const { Events } = window.Hls;
      // Stalls are no errors here, because a pause of the host causes them, too.
      const isStall = (details: string) => /^buffer(Stalled|NudgeOnStall|SeekOverHole)/.test(details);
      hls.on(Events.ERROR, (_, { details }) => isStall(details) || made.errors.push(details));
      hls.on(Events.FRAG_LOADING, (_, { frag: { type, sn, level } }) => {
        if (type !== 'main' || sn === 'initSegment') return;
        made.requests.push({ index: sn, rung: level, representationId: String(hls.levels[level]!.bitrate) });
      });
      given.before?.(made as LabPlayer<never>);
      hls.loadSource(manifest!.replace('manifest.mpd', 'master.m3u8'));
      hls.attachMedia(video);
      video.play().catch(() => {});
      return made;
    },
    async startShaka({ manifest, height = 180, isEndless = false, isPlain = false, ...given } = {}) {
      const shaka = window.shaka!;
      shaka.polyfill.installAll();
      const video = videoOf({ ...given, height });
      video.autoplay = true;
      const player = new shaka.Player();
      await player.attach(video);
      const factory = isPlain ? undefined : window.LeoAbr.createLeoAbrFactory(player as shaka5.Player, quiet(given));
      player.configure({ ...(factory && { abrFactory: factory }), ...given.settings });
      // With this setting, Shaka would ask again after a busy host has dropped pictures.
      player.configure('abr.droppedFrames', false);
      const made = watch(player, video, factory?.handle);
      const networking = player.getNetworkingEngine()!;
      networking.registerRequestFilter((_, { uris }) => {
        const [, representationId, number] = /(video-\d+)\/(\d+)\.m4s/.exec(uris[0]!) ?? [];
        if (!representationId) return;
        made.requests.push({ index: Number(number) - 1, representationId, rung: rungOf(representationId) });
      });
      networking.registerResponseFilter((type, response) => {
        if (!isEndless || type !== shaka.net.NetworkingEngine.RequestType.MANIFEST) return;
        const text = new TextDecoder().decode(response.data as ArrayBuffer);
        response.data = new TextEncoder().encode(text.replace(/mediaPresentationDuration="[^"]*"/, '')).buffer;
      });
      given.before?.(made as LabPlayer<never>);
      if (manifest !== undefined) await player.load(manifest);
      return { ...made, factory: factory! };
    },
    async play(given) {
      if (window.dashjs) return window.lab.start(given);
      return window.shaka ? window.lab.startShaka(given) : window.lab.startHls(given);
    },
    async until(what, condition, of) {
      const lab = of ?? (players[0]! as NonNullable<typeof of>);
      const deadline = performance.now() + 40_000;
      while (!condition(lab)) {
        if (performance.now() > deadline) {
          const { currentTime, readyState, playbackRate } = lab.video;
          const { requests, decisions } = lab;
          const faults = lab.faults.map(({ code, message }) => `${code}: ${message}`);
          const live = decisions.at(-1)?.state.live;
          const seen = { currentTime, readyState, playbackRate, live, decisions: decisions.length, requests, faults };
          throw new Error(`not within 40 s: ${what}; ${JSON.stringify(seen)}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}
