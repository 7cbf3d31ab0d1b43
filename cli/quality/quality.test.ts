import { readFileSync } from 'node:fs';
import { beforeEach, expect, test } from '@jest/globals';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { parseQuality } from '../../replay/quality-file.ts';
import { refused, run } from '../shared/run.fixture.ts';

const at = temporaryFolder('test');

const MPD = `<MPD mediaPresentationDuration="PT6S"><Period><AdaptationSet contentType="video">
  <SegmentTemplate duration="4" media="$RepresentationID$-$Number$.txt"/>
  <Representation id="low" bandwidth="1000" width="640" height="360"/><Representation id="high" bandwidth="2000"/>
</AdaptationSet></Period></MPD>`;

/** As ffmpeg's filter libvmaf writes it. */
const log = (vmaf: readonly unknown[]) => {
  const frames = vmaf.map((one, frameNum) => ({ frameNum, metrics: { integer_motion: 0, vmaf: one } }));
  return JSON.stringify({ version: '3.0.0', fps: 23.98, frames, pooled_metrics: { vmaf: { mean: 70 } } });
};

beforeEach(() => {
  put(at('stream.mpd'), MPD);
  for (const [i, name] of ['low-1', 'low-2', 'high-1', 'high-2'].entries()) put(at(`${name}.txt`), 'x'.repeat(i + 1));
  put(at('low.json'), log([60, 60.02, 61, 62, 70, 80]));
  put(at('high.json'), log([90, 90, 90, 90, 95, 96]));
});

const LOGS = () => ['--log', `low=${at('low.json')}`, '--log', `high=${at('high.json')}`];

function quality(args: string[], stream = 'stream.mpd') {
  return run(['quality', '--stream', at(stream), '--out', at('quality.json'), ...args]);
}

test('writes bytes and the mean VMAF per segment', async () => {
  const { status, stderr } = await quality([...LOGS(), '--metric', 'vmaf_4k_v0.6.1']);
  expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining('2 representations in') });
  expect(parseQuality(JSON.parse(readFileSync(at('quality.json'), 'utf8')))).toEqual({
    ...{ schema: 'leo-abr-quality/1', metric: 'vmaf_4k_v0.6.1', segmentSeconds: 4 },
    representations: {
      low: { bitrateBps: 1000, width: 640, height: 360, bytes: [1, 2], quality: [60.76, 75] },
      high: { bitrateBps: 2000, bytes: [3, 4], quality: [90, 95.5] },
    },
  });
});

test('refuses logs that do not fit, and flags that are gone', async () => {
  const [, , , high] = LOGS() as [string, string, string, string];
  await refused(quality(['--log', high]), /--log: expected one for each of low, high, got "none for low"/);
  await refused(
    quality([...LOGS(), '--log', 'hig=x']),
    /--log: expected one of low, high, got "hig"; did you mean high/,
  );
  put(at('low.json'), log([60, 61, 62, 'nan']));
  await refused(quality(LOGS()), /low.json: frames\[3\].metrics.vmaf: expected a number from 0 to 100, got "nan"/);
  put(at('low.json'), log([60]));
  await refused(quality(LOGS()), /--log low: expected about 6 pictures, as in other logs, got 1/);
  put(at('high.json'), log([90]));
  await refused(quality(LOGS()), /--log low: expected a picture of segment 1, got "none"/);
  put(at('low.json'), '{}');
  await refused(quality(LOGS()), /low.json: frames: expected an array/);
  await refused(quality(LOGS(), 'none.mpd'), /--stream: expected a readable file, got .*ENOENT/);
  await refused(quality(['--source', 'a.mp4']), /--source: expected no such flag since 0.3.0: run ffmpeg.*got "a.mp4"/);
});
