import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { beforeEach, expect, test } from '@jest/globals';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { parseQuality } from '../../replay/quality-file.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { interrupts, refused, run } from '../shared/run.fixture.ts';

const at = temporaryFolder('test');

/**
 * Stands in for ffmpeg and logs each comparison. A segment is a text with the time of its first picture and its VMAF.
 * The source is 16:9 and has 25 pictures per second.
 */
const FFMPEG = `#!/bin/sh
cd "\${0%/*}"
picture() { printf '#tb 0: %s\\n#dimensions 0: 3840x2160\\n#sar 0: 1/1\\n0, 0, %s, 1, 9, 0x0\\n' "$@"; }
case "$*" in
*-filters) if [ -e plain ]; then echo ' scale '; else echo ' .. libvmaf VV->V  VMAF'; fi ;;
*'pipe:0 '*framecrc*) read -r time vmaf; picture 1/1000 "$time" ;;
*mezzanine.mp4*framecrc*) picture 1/25 0 ;;
*framecrc*) echo 'moov atom not found' >&2; exit 1 ;;
*)
  while [ "$1" != -ss ]; do shift; done
  read -r time vmaf
  echo "$time at $2" >> log
  if [ -e "wait-$time" ]; then exec sleep 1000; fi
  if [ "$vmaf" = broken ]; then echo 'Invalid data' >&2; else echo "[libvmaf] VMAF score: $vmaf" >&2; fi
esac
`;

const MPD = `<MPD mediaPresentationDuration="PT8S"><Period><AdaptationSet contentType="video">
  <SegmentTemplate duration="4" media="$RepresentationID$-$Number$.txt"/>
  <Representation id="low" bandwidth="1000" width="640" height="360"/><Representation id="high" bandwidth="2000"/>
</AdaptationSet></Period></MPD>`;

let ffmpeg: string;

beforeEach(() => {
  ffmpeg = put(at('ffmpeg'), FFMPEG);
  chmodSync(ffmpeg, 0o755);
  put(at('mezzanine.mp4'), 'pictures');
  put(at('stream.mpd'), MPD);
  // By their own clock, the second segments begin at 4.04 s of the presentation.
  put(at('low-1.txt'), '10000 60.126');
  put(at('low-2.txt'), '14040 70');
  put(at('high-1.txt'), '0 80');
  put(at('high-2.txt'), '4040 90.5');
});

const log = () => readFileSync(at('log'), 'utf8').trim().split('\n').sort();

function quality(flags: Record<string, string> = {}, io?: Partial<CommandIo>) {
  const all = { source: at('mezzanine.mp4'), stream: at('stream.mpd'), out: at('quality.json'), ffmpeg, ...flags };
  const args = Object.entries(all).flatMap(([flag, value]) => [`--${flag}`, value]);
  return run(['quality', ...args], io);
}

test('writes bytes and VMAF per segment, compared at the time that the media has', async () => {
  const { status, stderr } = await quality({ jobs: '3' });
  expect(stderr).toContain('4 of 4 segments');
  expect(status).toBe(0);
  const written = parseQuality(JSON.parse(readFileSync(at('quality.json'), 'utf8')));
  expect(written).toEqual({
    ...{ schema: 'leo-abr-quality/1', metric: 'vmaf_4k_v0.6.1', segmentSeconds: 4 },
    representations: {
      low: { bitrateBps: 1000, width: 640, height: 360, bytes: [12, 8], quality: [60.13, 70] },
      high: { bitrateBps: 2000, bytes: [4, 9], quality: [80, 90.5] },
    },
  });
  expect(log()).toEqual(['0 at 0.000000', '10000 at 0.000000', '14040 at 4.036000', '4040 at 4.036000']);
  expect(existsSync(at('quality.json.part'))).toBe(false);
});

test('after a fault or an interrupt, the same command measures what is left', async () => {
  put(at('high-1.txt'), '0 broken');
  await refused(quality(), /high-1.txt: segment 0 of high: expected pictures to compare at 0.0 s .*, got Invalid data/);
  expect(existsSync(at('quality.json'))).toBe(false);

  put(at('high-1.txt'), '0 80');
  put(at('wait-4040'), '');
  const { onInterrupt, interrupt } = interrupts();
  const ending = quality({}, { onInterrupt });
  // The fourth segment never ends.
  while (!log().includes('4040 at 4.036000')) await new Promise((resolve) => setTimeout(resolve, 5));
  interrupt();
  expect((await ending).status).toBe(130);
  expect(log().filter((line) => line.startsWith('1'))).toHaveLength(2);

  // The last line is incomplete, as if the process had been killed.
  const part = readFileSync(at('quality.json.part'), 'utf8');
  put(at('quality.json.part'), part.slice(0, -5));
  put(at('high-2.txt'), '4041 90.5');
  const { status, stderr } = await quality();
  expect(stderr).toContain('goes on after 2 segments');
  expect(status).toBe(0);
  const { representations } = parseQuality(JSON.parse(readFileSync(at('quality.json'), 'utf8')));
  expect(Object.values(representations).flatMap((one) => one.quality)).toEqual([60.13, 70, 80, 90.5]);
});

test('refuses what it cannot measure', async () => {
  put(at('quality.json.part'), '{"metric":"other"}\n');
  await refused(quality(), /quality.json.part: expected the progress of measuring .*\(delete the file to begin anew\)/);
  await refused(quality({ source: at('ffmpeg') }), /ffmpeg: expected a video that ffmpeg can read, got moov atom/);
  await refused(quality({ ffmpeg: at('none') }), /--ffmpeg: expected an ffmpeg .*imageio-ffmpeg\), got .*none.*ENOENT/);
  await refused(quality({ stream: at('none.mpd') }), /--stream: expected a readable file, got .*ENOENT/);
  await refused(quality({ 'displayed-lines': '720' }), /1080, 2160/);
  put(at('plain'), '');
  await refused(quality(), /an ffmpeg with the filter libvmaf, on PATH or by --ffmpeg <path> .*got .*none/);
});
