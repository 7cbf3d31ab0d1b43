/** Runs the user's ffmpeg. */

import { spawn } from 'node:child_process';
import { InputError } from '../../abr/errors.ts';

const EXPECTED =
  'an ffmpeg with the filter libvmaf, on PATH or by --ffmpeg <path> (for example from the Python package imageio-ffmpeg)';

/** The program, and a signal that kills the process. */
export type Run = { ffmpeg: string; signal?: AbortSignal };

type Said = { status: number | null; stdout: string; stderr: string };

/** @throws {InputError} unless ffmpeg runs and has libvmaf. The message says where to get a build with libvmaf. */
export async function requireVmaf(run: Run): Promise<void> {
  const { stdout } = await running(['-filters'], run);
  if (/ libvmaf /.test(stdout)) return;
  throw new InputError('--ffmpeg', EXPECTED, undefined, `${run.ffmpeg}, which has none`);
}

export type Pictures = Awaited<ReturnType<typeof probe>>;

/**
 * Describes the first picture of a video file. `aspect` is width / height on the display. `firstSeconds` is the
 * picture's time on the media's own clock. @throws {InputError} with the file.
 */
export async function probe(file: string, run: Run) {
  const said = await running(['-i', file, ...FIRST_PICTURE], run);
  const [width, height] = numbersIn(said.stdout, /^#dimensions 0: (\d+)x(\d+)/m);
  const [over, under] = numbersIn(said.stdout, TIME_BASE);
  const time = firstTime(said.stdout);
  if (said.status !== 0 || !width || !height || !over || !under || time === undefined) {
    throw new InputError(file, 'a video that ffmpeg can read', undefined, reason(said));
  }
  // Without an aspect ratio of pixels, the file has 0.
  const [wide, high] = numbersIn(said.stdout, /^#sar 0: (\d+)\/(\d+)/m);
  const pixelAspect = wide && high ? wide / high : 1;
  return { width, height, aspect: (pixelAspect * width) / height, frameRate: under / over, firstSeconds: time };
}

/** The time of the first picture that can be decoded, on the media's own clock. */
export async function firstPictureSeconds(media: Buffer, { ffmpeg, signal, place }: Run & { place: string }) {
  const exact = ['-enc_time_base', 'demux', ...FIRST_PICTURE];
  const said = await running(['-copyts', '-i', 'pipe:0', ...exact], { ffmpeg, ...(signal && { signal }) }, media);
  const time = firstTime(said.stdout);
  if (said.status !== 0 || time === undefined) {
    throw new InputError(place, 'a segment that ffmpeg can decode', undefined, reason(said));
  }
  return time;
}

/** `framecrc` writes comments, one of them with the time base, then `stream, dts, pts, ...` for each picture. */
const FIRST_PICTURE = ['-map', '0:v:0', '-frames:v', '1', '-fps_mode', 'passthrough', '-f', 'framecrc', '-'];
const TIME_BASE = /^#tb 0: (\d+)\/(\d+)/m;

const numbersIn = (text: string, pattern: RegExp) => (pattern.exec(text) ?? []).slice(1).map(Number);

function firstTime(stdout: string): number | undefined {
  const [over, under] = numbersIn(stdout, TIME_BASE);
  const [pts] = numbersIn(stdout, /^0, *-?\d+, *(-?\d+),/m);
  return pts === undefined ? undefined : (pts * over!) / under!;
}

export interface Comparison {
  /** The mezzanine. `startSeconds` is the time in it at which the media's first picture is shown. */
  source: string;
  startSeconds: number;
  seconds: number;
  /** Size and rate at which media and mezzanine are compared. Dropped pictures are repeated. */
  width: number;
  height: number;
  frameRate: number;
  model: string;
}

/** Mean VMAF of a piece of media, 0 to 100. @throws {InputError} with `place` if they cannot be compared. */
export async function vmafOf(media: Buffer, to: Comparison, run: Run & { place: string }): Promise<number> {
  const same = `setpts=PTS-STARTPTS,fps=${to.frameRate},scale=${to.width}:${to.height}:flags=bicubic,format=yuv420p`;
  const graph = `[0:v:0]${same}[e];[1:v:0]${same}[r];[e][r]libvmaf=model=version=${to.model}:shortest=1`;
  const one = ['-threads', '1'];
  const source = ['-ss', to.startSeconds.toFixed(6), '-t', to.seconds.toFixed(6), ...one, '-i', to.source];
  const args = [...one, '-i', 'pipe:0', ...source, '-filter_complex', graph, '-f', 'null', '-'];
  const said = await running(args, run, media);
  const score = Number(/VMAF score: (\S+)/.exec(said.stderr)?.[1] ?? Number.NaN);
  if (said.status === 0 && score >= 0 && score <= 100) return score;
  const expected = `pictures to compare at ${to.startSeconds.toFixed(1)} s of the source`;
  throw new InputError(run.place, expected, undefined, reason(said));
}

/** The last line of ffmpeg's messages. */
function reason({ stderr }: Said): string {
  const lines = stderr.trim().split(/[\r\n]+/);
  return lines.at(-1) || 'none';
}

/** Runs ffmpeg to its end, with `input` on its standard input. */
async function running(args: readonly string[], { ffmpeg, signal }: Run, input?: Buffer): Promise<Said> {
  signal?.throwIfAborted();
  const child = spawn(ffmpeg, ['-hide_banner', '-nostats', ...(input ? [] : ['-nostdin']), ...args]);
  const kill = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', kill);
  try {
    const said: Said = { status: null, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => (said.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (said.stderr += text));
    // ffmpeg may end before it has read the whole input.
    child.stdin.on('error', () => {}).end(input);
    said.status = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
    signal?.throwIfAborted();
    return said;
  } catch (error) {
    signal?.throwIfAborted();
    throw new InputError('--ffmpeg', EXPECTED, undefined, `${ffmpeg}: ${(error as Error).message}`);
  } finally {
    signal?.removeEventListener('abort', kill);
  }
}
