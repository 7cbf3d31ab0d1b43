/** The zoo: all kinds of streams in all players, each on links of three rates, with the plugin and without. */

import type { RequestLogEntry } from '../../replay/origin/index.ts';
import { CORE, expect, type ServedFiles, type StreamOptions, test } from '../playback/playback-test.ts';
import { KEY } from './containers.ts';
import { LADDER_BPS, zooPresentation } from './streams.ts';
import { CLEAR_KEYS, type Format, ROWS, type Row, type ZooPlayer } from './zoo.ts';

test.describe.configure({ mode: 'parallel' });

const LINKS_BPS = { slow: 0.4e6, middle: 3e6, fast: 12e6 };
type LinkName = keyof typeof LINKS_BPS;
/** Rows that are played side by side in a page. */
const ROWS_PER_PAGE = 4;

const FORMATS: Record<ZooPlayer, readonly Format[]> = {
  dash: ['DASH'],
  'dash live': ['DASH'],
  'hls.js': ['HLS'],
  'Shaka 5': ['DASH', 'HLS'],
};

const base64url = (bytes: Buffer) => bytes.toString('base64url');
const LICENSE = { keys: [{ kty: 'oct', kid: base64url(KEY.id), k: base64url(KEY.key) }], type: 'temporary' };
const FILES: ServedFiles = { '/license': ['application/json', JSON.stringify(LICENSE)] };

interface Played {
  isEnded: boolean;
  atSeconds: number;
  startupSeconds: number;
  stalledSeconds: number;
  widths: number[];
  problems: string[];
}

for (const [playerName, formats] of Object.entries(FORMATS) as [ZooPlayer, readonly Format[]][]) {
  for (const format of formats) {
    const isForLive = playerName === 'dash live';
    const isOfPlayer = (row: Row) =>
      (row.format ?? format) === format &&
      (playerName !== 'dash' || !row.playSeconds) &&
      (!isForLive || row.playSeconds);
    const rows = ROWS.filter(isOfPlayer);
    for (let i = 0; i < rows.length; i += ROWS_PER_PAGE)
      defineGroup(playerName, format, rows.slice(i, i + ROWS_PER_PAGE));
  }
}

function defineGroup(playerName: ZooPlayer, format: Format, rows: readonly Row[]): void {
  test.describe(`${playerName} ${format}`, () => {
    test.use({ playerName, files: FILES });
    test(rows.map(({ kind }) => kind).join(', '), async ({ labPage, stream, origin }) => {
      test.setTimeout(100_000);
      const plays = rows.flatMap((row) =>
        (Object.keys(LINKS_BPS) as LinkName[]).flatMap((link) =>
          [false, true].map((isPlain) => {
            const url = stream(streamOf(row, LINKS_BPS[link]));
            const session = origin.session(/session\/([^/]*)/.exec(url)![1]!)!;
            // A browser has so many connections to one host.
            const manifest = `${url.replace('127.0.0.1', `s${session.id}.localhost`)}${format === 'DASH' ? 'manifest.mpd' : 'master.m3u8'}`;
            const settings = row.settings?.[playerName] ?? {};
            const { playSeconds = 0 } = row;
            return { row, link, session, page: { manifest, isPlain, settings, playSeconds, clearKeys: CLEAR_KEYS } };
          }),
        ),
      );
      const played = await labPage.evaluate(
        playAll,
        plays.map(({ page }) => page),
      );
      for (const [i, { row, link, session, page }] of plays.entries()) {
        const log = session.log;
        console.log(
          playerName,
          format,
          row.kind,
          link,
          page.isPlain ? 'plain' : '',
          JSON.stringify(played[i]),
          summary(log),
        );
      }
    });
  });
}

function summary(log: readonly RequestLogEntry[]): string {
  const of = (kind: string) =>
    log
      .filter((entry) => entry.kind === 'segment' && entry.representationId.startsWith(kind))
      .map(
        (entry) =>
          `${entry.representationId.replace(/\D+/g, '-').replace(/^-(0-)?/, '')}${entry.outcome === 'complete' ? '' : '!'}`,
      )
      .join(' ');
  return `| ${of('video')} | ${of('audio')}`;
}

function streamOf({ stream }: Row, linkBps: number): StreamOptions {
  const link = { 600: linkBps };
  if ('origin' in stream) return { ...stream.origin, link, ...(stream.origin.live && { startUtcMs: Date.now() }) };
  return { link, ladderBps: LADDER_BPS, presentation: zooPresentation(stream) };
}

type Play = { manifest: string; isPlain: boolean; settings: object; playSeconds: number; clearKeys: typeof CLEAR_KEYS };

/** Runs in the page. */
async function playAll(plays: Play[]): Promise<Played[]> {
  const play = async ({ manifest, isPlain, settings, playSeconds, clearKeys }: Play): Promise<Played> => {
    const problems: string[] = [];
    const loadedAtMs = performance.now();
    let startedAtMs = 0;
    let startSeconds = 0;
    let video: HTMLVideoElement | undefined;
    const lab = await window.lab
      .play({
        ...{ manifest, isPlain, settings, width: 64, height: 36, isEndless: playSeconds > 0 },
        before(lab) {
          video = (lab as { video: HTMLVideoElement }).video;
          video.addEventListener('playing', () => {
            if (startedAtMs > 0) return;
            startedAtMs = performance.now();
            startSeconds = video!.currentTime;
          });
          video.addEventListener('error', () => problems.push(`media: ${video!.error?.message}`));
          const { player } = lab as { player: { setProtectionData?(data: object): void } };
          const toBase64 = (hex: string) =>
            btoa(hex.replace(/../g, (two) => String.fromCharCode(Number.parseInt(two, 16))))
              .replace(/=/g, '')
              .replace(/\+/g, '-')
              .replace(/\//g, '_');
          const clearkeys = { [toBase64(clearKeys.keyId)]: toBase64(clearKeys.key) };
          player.setProtectionData?.({ 'org.w3.clearkey': { clearkeys } });
        },
      })
      .catch((error) => void problems.push(`load: ${error}`));
    const deadlineMs = performance.now() + 50_000;
    const isDone = () =>
      video!.ended ||
      problems.length > 0 ||
      (playSeconds > 0 && startedAtMs > 0 && video!.currentTime - startSeconds > playSeconds);
    while (!isDone() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 20));
    const nowMs = performance.now();
    problems.push(...(lab?.faults ?? []).map(({ code, message }) => `${code}: ${message}`), ...(lab?.errors ?? []));
    return {
      isEnded: video!.ended,
      atSeconds: video!.currentTime,
      startupSeconds: (startedAtMs - loadedAtMs) / 1000,
      stalledSeconds: (nowMs - startedAtMs) / 1000 - (video!.currentTime - startSeconds),
      widths: lab?.widths ?? [],
      problems,
    };
  };
  return Promise.all(plays.map(play));
}
