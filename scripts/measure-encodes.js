/** `npm run measure-encodes`: measures VMAF of encodes for `npm run fit-quality`. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { commandLine } from './command-line.js';

const OUT = 'build/encodes.csv';
const { values, positionals, refuse } = commandLine(
  `usage: npm run measure-encodes -- <sources> [--ffmpeg <path>] [--out <file>]

Encodes each picture (jpg, png) and clip (mp4, mkv) in the folder <sources> with several codecs, resolutions, frame rates
and bitrates, and appends each encode's VMAF to the CSV <file> (${OUT}). Rows that the file has are not measured
again. A picture becomes a clip: turned and zoomed, with an object in front and grain. ffmpeg needs libvmaf, libx264,
libx265, libvpx-vp9 and libsvtav1. Takes some 3 minutes of a core per source.`,
  { options: { ffmpeg: { type: 'string', default: 'ffmpeg' }, out: { type: 'string', default: OUT } }, positionals: 1 },
);
const [sources] = positionals;
if (sources === undefined || !fs.existsSync(sources)) refuse(`expected a folder of sources, got ${sources ?? 'none'}`);

const SECONDS = 4;
const KEYFRAME_SECONDS = 2;
const FRAME_RATE = 30;
/** VMAF's models by the lines of the reference. */
const MODELS = { 2160: 'vmaf_4k_v0.6.1', 1080: 'vmaf_v0.6.1' };
/** A clip is compressed, so its reference is smaller by this factor, which hides most of the compression. */
const CLIP_SHRINKS = 1.3;
/** VMAF counts every sixth picture. Its motion feature uses all pictures. */
const SUBSAMPLE = 6;
/** Mbit/s of H.264 by the lines of the reference, then by the lines of the encode. */
const LADDERS = {
  2160: { 2160: [6, 20, 60], 1440: [4, 14], 1080: [1.5, 5, 14], 720: [0.7, 2.5], 480: [0.3, 1] },
  1080: { 1080: [1.5, 5, 14], 720: [0.7, 2.5], 480: [0.3, 1] },
};
/** Codecs are compared at these lines at most. Rates are Mbit/s at 1080 lines and shrink with the number of pixels. */
const CODEC_LINES = 720;
const CODEC_RATES = [0.8, 2, 5, 12];
const FRAME_RATES = [60, 30, 15];
const FRAME_RATE_JOB = { codec: 'h264', lines: 720, display_lines: 720, reference_rate: 60, target_mbps: 2 };
const ENCODERS = {
  h264: 'libx264 -preset fast',
  // At this size, the preset `fast` takes minutes.
  h264_large: 'libx264 -preset veryfast',
  hevc: 'libx265 -preset fast -x265-params pools=none:frame-threads=1:log-level=error',
  vp9: 'libvpx-vp9 -deadline good -cpu-used 4 -row-mt 0',
  av1: 'libsvtav1 -preset 8 -svtav1-params lp=1',
};
const COLUMNS = ['source', 'display_lines', 'reference_rate', 'codec', 'lines', 'frame_rate', 'target_mbps'];

const folder = fs.mkdtempSync(join(tmpdir(), 'encodes-'));
const file = (name) => join(folder, name);
function ffmpeg(args) {
  const { error, status, stderr } = spawnSync(values.ffmpeg, ['-v', 'error', '-y', ...args], { encoding: 'utf8' });
  if (error || status !== 0) throw new Error(`${values.ffmpeg} ${args.join(' ')}\n${error?.message ?? stderr}`);
}
const widthOf = (lines) => 2 * Math.round((lines * 8) / 9);
const scaleTo = (lines) => `scale=${widthOf(lines)}:${lines}:flags=bicubic`;

function heightOf(source) {
  const said = spawnSync(values.ffmpeg, ['-hide_banner', '-i', source], { encoding: 'utf8' }).stderr;
  const [, width, height] = /Video:.* (\d{2,})x(\d{2,})/.exec(said) ?? [];
  if (!height) throw new Error(`${source}: expected a picture or a video, got ${said}`);
  return Math.min(height, (width * 9) / 16);
}

/** The view's corners move by some per cent of the picture at different paces, so that motion is no translation. */
function motionOf(lines, rate) {
  const corner = (i) => {
    const [x, y] = [i % 2, i >> 1];
    const wander = (size, at, phase) =>
      `${size}*(${at ? 0.95 : 0.05}+0.04*sin(on/${rate}*${(0.8 + 0.13 * (i + phase)).toFixed(2)}+${i + phase}))`;
    return `x${i}='${wander('W', x, 0)}':y${i}='${wander('H', y, 2)}'`;
  };
  const view = `perspective=${[0, 1, 2, 3].map(corner).join(':')}:interpolation=cubic:eval=frame`;
  const large = 2 * Math.round(lines * 0.55);
  return [
    `crop='min(iw,ih*16/9)':'min(ih,iw*9/16)',${scaleTo(large)},loop=-1:1,setpts=N/${rate}/TB,fps=${rate},split[a][b]`,
    `[a]${view},${scaleTo(lines)}[back]`,
    `[b]hflip,crop=iw/4:ih/3:iw/3:ih/4[front]`,
    `[back][front]overlay=x='(W-w)*(0.5+0.4*sin(1.3*t))':y='(H-h)*(0.5+0.4*cos(0.9*t))',noise=alls=4:allf=t`,
  ].join(';');
}

/** The reference is uncompressed, because decoding would take longer than VMAF. */
function makeReference(source, { isPicture, lines, rate }) {
  const name = file(`reference-${lines}-${rate}.y4m`);
  const filter = isPicture ? motionOf(lines, rate) : `crop='min(iw,ih*16/9)':'min(ih,iw*9/16)',${scaleTo(lines)}`;
  if (!fs.existsSync(name))
    ffmpeg(['-i', source, '-filter_complex', filter, '-t', SECONDS, '-pix_fmt', 'yuv420p', name]);
  return name;
}

function encode(reference, { codec, lines, frame_rate, target_mbps }) {
  const name = file('encode.mkv');
  const rate = Math.round(target_mbps * 1e3);
  const limits = codec === 'av1' ? [] : ['-maxrate', `${rate * 1.5}k`, '-bufsize', `${rate * 2}k`];
  const encoder = ENCODERS[lines > 1080 && codec === 'h264' ? 'h264_large' : codec].split(' ');
  const keyframes = ['-g', KEYFRAME_SECONDS * frame_rate];
  const options = ['-c:v', ...encoder, '-b:v', `${rate}k`, ...limits, ...keyframes, '-threads', 1];
  ffmpeg(['-i', reference, '-vf', `fps=${frame_rate},${scaleTo(lines)}`, ...options, name]);
  return name;
}

/** Mean VMAF over the pictures. At a lower frame rate, pictures are repeated. */
function vmafOf(encoded, reference, { lines, rate, model }) {
  const log = file('vmaf.json');
  const graph =
    `[0:v]fps=${rate},${scaleTo(lines)},setpts=PTS-STARTPTS[e];[1:v]setpts=PTS-STARTPTS[r];` +
    `[e][r]libvmaf=model=version=${model}:n_subsample=${SUBSAMPLE}:n_threads=1:log_fmt=json:log_path=${log}`;
  ffmpeg(['-threads', 1, '-i', encoded, '-i', reference, '-lavfi', graph, '-f', 'null', '-']);
  return JSON.parse(fs.readFileSync(log, 'utf8')).pooled_metrics.vmaf.mean;
}

function jobsOf({ lines, isPicture }) {
  const reference = { display_lines: lines, reference_rate: FRAME_RATE, frame_rate: FRAME_RATE };
  const ladder = Object.entries(LADDERS[lines] ?? {}).flatMap(([height, rates]) =>
    rates.map((target_mbps) => ({ ...reference, codec: 'h264', lines: Number(height), target_mbps })),
  );
  const most = Math.min(lines, CODEC_LINES);
  const rates = CODEC_RATES.map((mbps) => Number((mbps * (most / 1080) ** 2).toPrecision(2)));
  const codecs = ['h264', 'hevc', 'vp9', 'av1'].flatMap((codec) =>
    rates.map((target_mbps) => ({ ...reference, display_lines: most, codec, lines: most, target_mbps })),
  );
  const frameRates = FRAME_RATES.map((frame_rate) => ({ ...FRAME_RATE_JOB, frame_rate }));
  return [...ladder, ...codecs, ...(isPicture ? frameRates : [])];
}

const text = fs.existsSync(values.out) ? fs.readFileSync(values.out, 'utf8') : '';
if (text === '') fs.writeFileSync(values.out, `${[...COLUMNS, 'bitrate_bps', 'vmaf'].join(',')}\n`);
try {
  for (const name of fs.readdirSync(sources).sort()) {
    const source = join(sources, name);
    const isPicture = /^\.(jpe?g|png)$/i.test(extname(name));
    const height = heightOf(source) / (isPicture ? 1 : CLIP_SHRINKS);
    const lines = [2160, 1080, 720, 540, 360, 270].find((some) => some <= height);
    for (const job of jobsOf({ lines, isPicture })) {
      const key = COLUMNS.map((column) => ({ source: name, ...job })[column]).join(',');
      if (text.includes(`\n${key},`)) continue;
      const shown = { isPicture, lines: job.display_lines, rate: job.reference_rate };
      const reference = makeReference(source, shown);
      const encoded = encode(reference, job);
      const vmaf = vmafOf(encoded, reference, { ...shown, model: MODELS[job.display_lines] ?? MODELS[1080] });
      const bitrateBps = Math.round((8 * fs.statSync(encoded).size) / SECONDS);
      fs.appendFileSync(values.out, `${key},${bitrateBps},${vmaf.toFixed(2)}\n`);
    }
    for (const left of fs.readdirSync(folder)) fs.rmSync(file(left));
  }
} finally {
  fs.rmSync(folder, { recursive: true });
}
