/** Plays each kind of stream of the zoo in each player, on a slow and on a fast link. */

import type { Page } from '@playwright/test';
import type { ReplaySession } from '../../replay/origin/index.ts';
import { CHANGE, TIMING } from '../builds.ts';
import {
  CORE,
  CORE_WITH_CATCH_UP,
  expect,
  type LabPlayerName,
  type ServedFiles,
  type StreamOptions,
  test,
} from '../playback/playback-test.ts';
import { KEY } from './containers.ts';
import { AUDIO_BPS, LADDER_BPS, zooPresentation } from './streams.ts';
import { vp9Clips } from './vp9.ts';
import { mediaSeconds, ROWS, type ZooFormat, type ZooRow } from './zoo.ts';

test.describe.configure({ mode: 'parallel' });

const LINKS_BPS = { slow: 0.4e6, fast: 12e6 };
type LinkName = keyof typeof LINKS_BPS;
/** The plugin plays on each link. The player alone plays on the slow link, which may stall. */
const PLAYS: readonly [LinkName, boolean][] = [
  ['fast', false],
  ['slow', false],
  ['slow', true],
];
/** Number of rows that a page plays side by side. With more rows, the page is too busy to measure its links. */
const ROWS_PER_PAGE = 4;
/** The tolerance covers a pause of the host. */
const TOLERATED_STALL_SECONDS = 2;

/** With short buffers, players send later requests when the page is quiet. */
const SHORT_BUFFERS: Partial<Record<LabPlayerName, object>> = {
  dash: { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } },
  'hls.js': { maxBufferLength: 4, maxMaxBufferLength: 4 },
  'Shaka 5': { streaming: { bufferingGoal: 4 } },
};
/** With these settings, Shaka does not begin with the browser's estimate of another link. */
const ESTIMATES: Partial<Record<LabPlayerName, object>> = {
  'Shaka 5': { abr: { useNetworkInformation: false, defaultBandwidthEstimate: 500e3 } },
};

const [keyId, key] = [KEY.id.toString('base64url'), KEY.key.toString('base64url')];
const LICENSE = JSON.stringify({ keys: [{ kty: 'oct', kid: keyId, k: key }], type: 'temporary' });
const FILES: ServedFiles = { '/license': ['application/json', LICENSE] };

for (const playerFormat of ['dash DASH', 'hls.js HLS', 'Shaka 5 DASH', 'Shaka 5 HLS'] as const) {
  const [playerName, format] = playerFormat.split(/ (?=[A-Z]+$)/) as [LabPlayerName, ZooFormat];
  test.describe(playerFormat, () => {
    test.use({ playerName, files: FILES });
    const isPlayed = ({ format: only, inShaka }: ZooRow) =>
      (only ?? (playerName === 'Shaka 5' ? inShaka : undefined) ?? format) === format;
    // In WebKitGTK, Shaka alone buffers no more than the first segment of HLS. Rows of one length share a page. Live
    // streams have their own page, because they send many requests.
    const partOf = ({ core, live }: ZooRow) =>
      core && playerFormat === 'Shaka 5 HLS' ? 'not WebKit' : (core ?? (live ? 'live' : 'other'));
    for (const part of ['every engine', 'not WebKit', 'live', 'other']) {
      const engines = part === 'every engine' ? [CORE.tag] : part === 'not WebKit' ? CORE_WITH_CATCH_UP.tag : [];
      const rows = ROWS.filter((row) => isPlayed(row) && partOf(row) === part);
      rows.sort((a, b) => mediaSeconds(a) - mediaSeconds(b));
      for (let i = 0; i < rows.length; i += ROWS_PER_PAGE) {
        const group = rows.slice(i, i + ROWS_PER_PAGE);
        const kinds = group.map(({ kind }) => kind);
        // The other containers have a page in one player.
        const tag = [
          ...engines,
          TIMING.tag,
          ...(format === 'DASH' && kinds.includes('byte ranges') ? [CHANGE.tag] : []),
        ];
        test(kinds.join(', '), { tag }, async ({ labPage, stream, origin }) => {
          test.setTimeout(150_000);
          const prepare = async (row: ZooRow, link: LinkName, isPlain: boolean): Promise<Prepared> => {
            const url = stream(await streamOf(row, LINKS_BPS[link], labPage));
            const session = origin.session(url.split('/').at(-2)!)!;
            // A browser opens six connections to a host.
            const folder = url.replace('127.0.0.1', `s${session.id}.localhost`);
            const { live = false } = row;
            const playSeconds = mediaSeconds(row);
            const buffers = playSeconds > 20 || live ? {} : SHORT_BUFFERS[playerName];
            const manifest = folder + (format === 'DASH' ? 'manifest.mpd' : 'master.m3u8');
            const settings = { ...buffers, ...ESTIMATES[playerName], ...row.settings?.[playerName] };
            const play = { manifest, isPlain, settings, playSeconds, live, clearKey: [keyId, key] };
            return { row, link, session, play };
          };
          const plays: Prepared[] = [];
          for (const row of group) for (const one of PLAYS) plays.push(await prepare(row, ...one));
          const played = await labPage.evaluate(
            playAll,
            plays.map(({ play }) => play),
          );
          // If a page is too busy to decode a dozen streams, all of them stall. That time is not the plugin's fault.
          const pageSeconds = Math.max(0, Math.min(...played.map(({ stalledSeconds }) => stalledSeconds)));
          const all = plays.map((one, i) => {
            const stalledSeconds = played[i]!.stalledSeconds - pageSeconds;
            return { ...one, ...played[i]!, stalledSeconds, ...qualitiesOf(one) };
          });
          const faults = group.flatMap((row) => {
            const own = all.filter((one) => one.row === row);
            const isBusy = row.busy?.[playerFormat] !== undefined;
            const isAlone = row.alone?.[playerFormat] !== undefined;
            const found = own.slice(0, -1).flatMap((one) => judge(one, own.at(-1)!, { isBusy, isAlone }));
            return found.map((fault) => `${row.kind}, ${fault}`);
          });
          expect(faults).toEqual([]);
        });
      }
    }
  });
}

interface Play {
  manifest: string;
  isPlain: boolean;
  settings: object;
  playSeconds: number;
  live: boolean;
  /** Id and key in base64url. */
  clearKey: string[];
}

type Prepared = { row: ZooRow; link: LinkName; session: ReplaySession; play: Play };
type ZooPlayed = { isEnded: boolean; playedSeconds: number; stalledSeconds: number; problems: string[] };

async function streamOf({ stream, live }: ZooRow, linkBps: number, page: Page): Promise<StreamOptions> {
  const link = { 600: linkBps };
  if ('origin' in stream) return { ...stream.origin, link, ...(live && { startUtcMs: Date.now() }) };
  const others = stream.hasVp9 ? await vp9Clips(page, LADDER_BPS.length) : [];
  return { link, ladderBps: LADDER_BPS, presentation: zooPresentation({ ...stream, others }) };
}

/** A requested segment's true bitrate, and the bitrates of its period's ladder. */
type Quality = { bps: number; ladder: readonly number[]; language: string | undefined };

function qualitiesOf({ row: { stream }, session }: Prepared): { video: Quality[]; audio: Quality[] } {
  const of = 'origin' in stream ? {} : stream;
  const ladders = { video: [of.videoBps ?? LADDER_BPS, of.secondLadderBps ?? []], audio: [of.audioBps ?? AUDIO_BPS] };
  const qualities = (kind: keyof typeof ladders) =>
    session.log.flatMap(({ kind: part, outcome, representationId }): Quality[] => {
      // Representations of the origin's own streams have no period, and their audio has no number.
      const [, period = '0', language, index = '0'] =
        new RegExp(`^${kind}(?:-(\\d+)(?=-))?(?:-([a-z]+))?(?:-(\\d+))?$`).exec(representationId) ?? [];
      if (part !== 'segment' || outcome !== 'complete' || !representationId.startsWith(kind)) return [];
      const ladder = ladders[kind][Number(period)] ?? ladders[kind][0]!;
      return [{ bps: ladder[Number(index) % ladder.length]!, ladder, language }];
    });
  return { video: qualities('video'), audio: qualities('audio') };
}

type ZooSeen = Prepared & ZooPlayed & ReturnType<typeof qualitiesOf>;

const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / (numbers.length || 1);
/** The mean share of the highest bitrate in the last quarter. */
const shareOfTop = (all: readonly Quality[]) =>
  mean(all.slice(-Math.ceil(all.length / 4)).map(({ bps, ladder }) => bps / Math.max(...ladder)));

function judge(seen: ZooSeen, plain: ZooSeen, { isBusy, isAlone }: Record<'isBusy' | 'isAlone', boolean>): string[] {
  const isAtEase = !isAlone && !isBusy;
  const { link, session, video, audio, playedSeconds, stalledSeconds } = seen;
  const faults = seen.problems.filter((problem) => !isAlone || !plain.problems.includes(problem));
  const { playSeconds } = seen.play;
  const seconds = isAlone ? Math.min(plain.playedSeconds, playSeconds) : playSeconds;
  // Where a player itself fails, how far it comes varies from play to play by a segment or two.
  if (!seen.isEnded && playedSeconds < seconds - (isAlone ? 2 : 0.6))
    faults.push(`played ${playedSeconds.toFixed(1)} of ${seconds} s`);
  const aloneSeconds = link === 'slow' ? Math.max(0, plain.stalledSeconds) : 0;
  if (stalledSeconds > aloneSeconds + TOLERATED_STALL_SECONDS && isAtEase)
    faults.push(
      `stalled for ${stalledSeconds.toFixed(1)} s, alone on the slow link for ${plain.stalledSeconds.toFixed(1)} s`,
    );
  // The first segment is the player's own choice.
  const [first] = session.log.filter(
    ({ kind, representationId }) => kind === 'segment' && /^video/.test(representationId),
  );
  const bytes = session.log.reduce((sum, { sentBytes }) => sum + sentBytes, -(first?.sentBytes ?? 0));
  const bps = (8 * bytes) / playedSeconds;
  if (!isAlone && link === 'slow' && bps > 1.2 * LINKS_BPS.slow) faults.push(`too high: ${textOf(seen)}`);
  if (isAtEase && link === 'fast') {
    if (video.length > 0 && shareOfTop(video) < 0.7) faults.push(`too low: ${textOf(seen)}`);
    if (audio.length > 0 && shareOfTop(audio) < 0.5) faults.push(`audio too low: ${textOf(seen)}`);
  }
  if (new Set(audio.map(({ language }) => language)).size > 1) faults.push(`several languages: ${textOf(seen)}`);
  return faults.map((fault) => `${link}: ${fault}`);
}

/** Lists the segments' bitrates in kbit/s. */
const textOf = ({ video, audio }: ZooSeen) =>
  [video, audio]
    .map((all) => all.map(({ bps, language = '' }) => Math.round(bps / 1000) + language).join(' '))
    .join(' | ');

/** Runs in the page. */
async function playAll(plays: Play[]): Promise<ZooPlayed[]> {
  const play = async ({ manifest, isPlain, settings, playSeconds, live, clearKey }: Play): Promise<ZooPlayed> => {
    const problems: string[] = [];
    let video!: HTMLVideoElement;
    let started: { atMs: number; seconds: number } | undefined;
    const before = (lab: { video: HTMLVideoElement; player: { setProtectionData?(data: object): void } }) => {
      video = lab.video;
      video.addEventListener('playing', () => {
        started ??= { atMs: performance.now(), seconds: video.currentTime };
      });
      const [id, key] = clearKey as [string, string];
      // dash.js has this method. Other players have a setting.
      lab.player.setProtectionData?.({ 'org.w3.clearkey': { clearkeys: { [id]: key } } });
    };
    const lab = await window.lab
      .play({ manifest, isPlain, settings, width: 64, height: 36, isEndless: live, before })
      .catch((error) => void problems.push(`load: ${error.code ?? error}`));
    const deadlineMs = performance.now() + playSeconds * 1000 + 14_000;
    const playedSeconds = () => video.currentTime - (started?.seconds ?? video.currentTime);
    // dash.js may pause half a second before the end.
    const isEnded = () => video.ended || (!live && video.currentTime > video.duration - 0.6);
    const isDone = () => problems.length > 0 || isEnded() || (live && playedSeconds() > playSeconds);
    while (!isDone() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 20));
    const elapsedSeconds = (performance.now() - (started?.atMs ?? performance.now())) / 1000;
    problems.push(...(lab?.faults ?? []).map(({ code, message }) => `${code}: ${message}`));
    if (video.error) problems.push(`media: ${video.error.message}`);
    const played = { isEnded: isEnded(), playedSeconds: playedSeconds() };
    const { player } = (lab ?? {}) as { player?: { destroy(): unknown } };
    await player?.destroy();
    video.remove();
    return { ...played, stalledSeconds: elapsedSeconds - played.playedSeconds, problems };
  };
  return Promise.all(plays.map(play));
}
