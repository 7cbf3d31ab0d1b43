/** The zoo: all kinds of streams in all players, each on links of three rates. */

import type { ReplaySession } from '../../replay/origin/index.ts';
import { CORE, expect, type ServedFiles, type StreamOptions, test } from '../playback/playback-test.ts';
import { KEY } from './containers.ts';
import { LADDER_BPS, zooPresentation } from './streams.ts';
import { type Format, mediaSeconds, type PlayerFormat, ROWS, type Row } from './zoo.ts';

test.describe.configure({ mode: 'parallel' });

/** The plugin plays on each link, the player alone on the slow one. */
const LINKS_BPS = { slow: 0.4e6, middle: 3e6, fast: 12e6 };
type LinkName = keyof typeof LINKS_BPS;
/** More streams at a time make a page too busy to measure its links. */
const ROWS_PER_PAGE = 3;
/** A host that stands still, and a start that `playing` reports early. */
const TOLERATED_STALL_SECONDS = 1.5;

const base64url = (bytes: Buffer) => bytes.toString('base64url');
const [keyId, key] = [base64url(KEY.id), base64url(KEY.key)];
const LICENSE = JSON.stringify({ keys: [{ kty: 'oct', kid: keyId, k: key }], type: 'temporary' });
const FILES: ServedFiles = { '/license': ['application/json', LICENSE] };

for (const playerFormat of ['dash DASH', 'dash live DASH', 'hls.js HLS', 'Shaka 5 DASH', 'Shaka 5 HLS'] as const) {
  const [playerName, format] = playerFormat.split(/ (?=[A-Z]+$)/) as ['dash', Format];
  test.describe(playerFormat, () => {
    test.use({ playerName, files: FILES });
    const rows = ROWS.filter((row) => (row.format ?? format) === format);
    // Of dash.js, another build plays live streams.
    const own = rows
      .filter(({ live }) => (live ? playerFormat !== 'dash DASH' : playerFormat !== 'dash live DASH'))
      .sort((a, b) => mediaSeconds(a) - mediaSeconds(b));
    for (const isCore of [true, false]) {
      const some = own.filter((row) => (row.isCore ?? false) === isCore);
      for (let i = 0; i < some.length; i += ROWS_PER_PAGE) {
        const group = some.slice(i, i + ROWS_PER_PAGE);
        const titles = group.map(({ kind, alone }) => kind + (alone?.[playerFormat] ? ' (not adapted)' : ''));
        test(titles.join(', '), isCore ? CORE : {}, async ({ labPage, stream, origin }) => {
          test.setTimeout(120_000);
          const prepare = (row: Row, link: LinkName, isPlain: boolean): Prepared => {
            const url = stream(streamOf(row, LINKS_BPS[link]));
            const session = origin.session(url.split('/').at(-2)!)!;
            // A browser has at most six connections to a host.
            const folder = url.replace('127.0.0.1', `s${session.id}.localhost`);
            const manifest = `${folder}${format === 'DASH' ? 'manifest.mpd' : 'master.m3u8'}`;
            const settings = row.settings?.[playerName as keyof Row['settings']] ?? {};
            const limits = { playSeconds: mediaSeconds(row), isLive: row.live ?? false };
            return { row, link, session, play: { manifest, isPlain, settings, ...limits, clearKey: [keyId, key] } };
          };
          for (const { kind, alone } of group) {
            const reason = alone?.[playerFormat];
            if (reason) test.info().annotations.push({ type: 'not adapted', description: `${kind}: ${reason}` });
          }
          const faultsOf = async (rows: readonly Row[]) => {
            const links = Object.keys(LINKS_BPS) as LinkName[];
            const plays = rows.flatMap((row) => [
              ...links.map((link) => prepare(row, link, false)),
              prepare(row, 'slow', true),
            ]);
            const played = await labPage.evaluate(
              playAll,
              plays.map(({ play }) => play),
            );
            const all = plays.map((one, i) => ({ ...one, ...played[i]!, ...qualitiesOf(one) }));
            if (process.env['ZOO_LOG'])
              for (const one of all)
                console.log(
                  playerFormat,
                  one.row.kind,
                  one.link,
                  one.play.isPlain ? 'alone' : '',
                  JSON.stringify(played[all.indexOf(one)]),
                  one.video.join(' '),
                  '|',
                  one.audio.join(' '),
                );
            return rows.map((row) => ({
              row,
              faults: judge(
                all.filter((one) => one.row === row),
                row.alone?.[playerFormat],
              ),
            }));
          };
          const first = await faultsOf(group);
          // A host that stands still makes a link look slow: a fault has to show twice.
          const suspects = first.filter(({ faults }) => faults.length > 0);
          const again = suspects.length > 0 ? await faultsOf(suspects.map(({ row }) => row)) : [];
          expect(again.flatMap(({ row, faults }) => faults.map((fault) => `${row.kind}: ${fault}`))).toEqual([]);
        });
      }
    }
  });
}

interface Prepared {
  row: Row;
  link: LinkName;
  session: ReplaySession;
  play: Play;
}

interface Play {
  manifest: string;
  isPlain: boolean;
  settings: object;
  playSeconds: number;
  isLive: boolean;
  /** Id and key in base64url. */
  clearKey: string[];
}

interface Played {
  isEnded: boolean;
  playedSeconds: number;
  stalledSeconds: number;
  problems: string[];
}

function streamOf({ stream, live }: Row, linkBps: number): StreamOptions {
  const link = { 600: linkBps };
  if ('origin' in stream) return { ...stream.origin, link, ...(live && { startUtcMs: Date.now() }) };
  return { link, ladderBps: LADDER_BPS, presentation: zooPresentation(stream) };
}

/** The true bitrates of the requested segments, each as a share of the best of its period; the audio's tracks. */
function qualitiesOf({ row, session }: Prepared) {
  const segments = session.log.filter(({ kind, outcome }) => kind === 'segment' && outcome === 'complete');
  const ladders =
    'origin' in row.stream ? [LADDER_BPS] : [row.stream.videoBps ?? LADDER_BPS, row.stream.secondLadderBps ?? []];
  const video = segments.flatMap(({ representationId }) => {
    const [kind, ...numbers] = representationId.split('-');
    const [part, index] = numbers.length > 1 ? numbers.map(Number) : [0, Number(numbers[0])];
    const ladder = ladders[part!]!;
    return kind === 'video'
      ? [{ bps: ladder[index! % ladder.length]!, topBps: Math.max(...ladder), lowestBps: Math.min(...ladder) }]
      : [];
  });
  const audio = segments.map(({ representationId }) => representationId).filter((id) => id.startsWith('audio'));
  return {
    video: video.map(({ bps }) => bps),
    shares: video.map(({ bps, topBps }) => bps / topBps),
    excess: video.map(({ bps, lowestBps }) => bps / Math.max(lowestBps, LINKS_BPS.slow)),
    audio,
  };
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** What is wrong with a row, on its links. */
function judge(
  all: readonly (Prepared & Played & ReturnType<typeof qualitiesOf>)[],
  alone: string | undefined,
): string[] {
  const plain = all.find(({ play }) => play.isPlain)!;
  return all
    .filter((one) => one !== plain)
    .flatMap((one) => {
      const { link, play, problems, isEnded, playedSeconds, stalledSeconds, shares, excess, audio } = one;
      const faults = [...problems];
      const seconds = alone === undefined ? play.playSeconds : Math.min(plain.playedSeconds, play.playSeconds);
      if (!isEnded && playedSeconds < seconds - 0.6)
        faults.push(`played ${playedSeconds.toFixed(1)} s of ${seconds} s`);
      if (link === 'slow' && stalledSeconds > Math.max(0, plain.stalledSeconds) + TOLERATED_STALL_SECONDS)
        faults.push(`stalled for ${stalledSeconds.toFixed(1)} s, alone for ${plain.stalledSeconds.toFixed(1)} s`);
      if (alone !== undefined) return faults.map((fault) => `${link}: ${fault}`);
      if (link === 'slow' && mean(excess) > 1.2) faults.push(`too high: ${one.video}`);
      if (link !== 'slow' && stalledSeconds > TOLERATED_STALL_SECONDS)
        faults.push(`stalled for ${stalledSeconds.toFixed(1)} s`);
      if (link === 'fast' && mean(shares.slice(-shares.length / 2)) < 0.7) faults.push(`too low: ${one.video}`);
      if (new Set(audio.map((id) => id.split('-')[2])).size > 1) faults.push(`several languages: ${audio}`);
      return faults.map((fault) => `${link}: ${fault}`);
    });
}

/** Runs in the page. */
async function playAll(plays: Play[]): Promise<Played[]> {
  const play = async ({ manifest, isPlain, settings, playSeconds, isLive, clearKey }: Play): Promise<Played> => {
    const problems: string[] = [];
    let video!: HTMLVideoElement;
    let started: { atMs: number; seconds: number } | undefined;
    const before = (lab: { video: HTMLVideoElement; player: { setProtectionData?(data: object): void } }) => {
      video = lab.video;
      video.addEventListener('playing', () => {
        started ??= { atMs: performance.now(), seconds: video.currentTime };
      });
      const [id, key] = clearKey as [string, string];
      // It is dash.js's.
      lab.player.setProtectionData?.({ 'org.w3.clearkey': { clearkeys: { [id]: key } } });
    };
    const lab = await window.lab
      .play({ manifest, isPlain, settings, width: 64, height: 36, isEndless: isLive, before })
      .catch((error) => void problems.push(`load: ${error}`));
    const deadlineMs = performance.now() + playSeconds * 1000 + 14_000;
    const playedSeconds = () => video.currentTime - (started?.seconds ?? video.currentTime);
    // dash.js may pause half a second before the end.
    const isEnded = () => video.ended || (!isLive && video.currentTime > video.duration - 0.6);
    const isDone = () => problems.length > 0 || isEnded() || (isLive && playedSeconds() > playSeconds);
    while (!isDone() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 20));
    const elapsedSeconds = (performance.now() - (started?.atMs ?? performance.now())) / 1000;
    problems.push(...(lab?.faults ?? []).map(({ code, message }) => `${code}: ${message}`));
    if (video.error) problems.push(`media: ${video.error.message}`);
    const played = { playedSeconds: playedSeconds(), stalledSeconds: elapsedSeconds - playedSeconds() };
    const { player } = (lab ?? {}) as { player?: { destroy(): unknown } };
    const ended = isEnded();
    await player?.destroy();
    video.remove();
    return { isEnded: ended, ...played, problems };
  };
  return Promise.all(plays.map(play));
}
