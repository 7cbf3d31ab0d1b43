import { readFileSync } from 'node:fs';
import { beforeEach, expect, test } from '@jest/globals';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { boxHeader, concatBytes, u32 } from '../../replay/media/boxes.ts';
import { parseQuality } from '../../replay/quality-file.ts';
import { refused, run } from '../shared/run.fixture.ts';
import { readStream } from './stream.ts';

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
  await refused(quality(['--source', 'a.mp4']), /--source: expected no such flag since 0.4.0: run ffmpeg.*got "a.mp4"/);
});

/** The representations with files relative to the folder. */
function read(manifest: string, name: string) {
  const json = JSON.stringify(readStream(put(at(name), manifest)));
  return JSON.parse(json.replaceAll(at(), '.'));
}

const mpd = (periods: string) =>
  `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1M0.5S">${periods}</MPD>`;
const readMpd = (periods: string) => read(mpd(periods), 'a.mpd');

test('a template with numbers: the last segment has what is left; sound has none of it', () => {
  const found = readMpd(`<BaseURL>media/</BaseURL><Period>
    <AdaptationSet contentType="audio"><Representation id="a" bandwidth="64000"><BaseURL>a.mp4</BaseURL></Representation></AdaptationSet>
    <AdaptationSet mimeType="video/mp4" frameRate="30000/1001">
      <SegmentTemplate timescale="1000" duration="20000" initialization="$RepresentationID$/$$.mp4" media="$RepresentationID$/$Bandwidth$-$Number%03d$.m4s" startNumber="7"/>
      <Representation id="v" bandwidth="800000" codecs="avc1.64001f" width="640" height="360"/>
    </AdaptationSet></Period>`);
  const about = { id: 'v', bitrateBps: 8e5, width: 640, height: 360, codec: 'avc1.64001f' };
  expect(found).toEqual([{ ...about, frameRate: 30000 / 1001, segments: expect.any(Array) }]);
  const segment = (number: string, startSeconds: number, seconds: number) => {
    return { file: `./media/v/800000-${number}.m4s`, startSeconds, seconds };
  };
  expect(found[0].segments).toEqual([
    segment('007', 0, 20),
    segment('008', 20, 20),
    segment('009', 40, 20),
    segment('010', 60, 0.5),
  ]);
});

test('a timeline repeats to the end of its period; periods that share an id follow one another', () => {
  const period = (id: string, timeline: string) => `<Period duration="PT10S"><AdaptationSet contentType="video">
    <SegmentTemplate timescale="10" presentationTimeOffset="100" media="${id}-$Time$.m4s"><SegmentTimeline>${timeline}</SegmentTimeline></SegmentTemplate>
    <Representation id="v" bandwidth="1000"/></AdaptationSet></Period>`;
  const timelines = ['<S t="100" d="40" r="-1"/>', '<S t="100" d="50"/><S d="50"/>'] as const;
  const [{ segments }] = readMpd(period('a', timelines[0]) + period('b', timelines[1]));
  expect(segments.map(Object.values)).toEqual([
    ['./a-100.m4s', 0, 4],
    ['./a-140.m4s', 4, 4],
    // Half a segment more rounds up; the period ends it.
    ['./a-180.m4s', 8, 2],
    ['./b-100.m4s', 10, 5],
    ['./b-150.m4s', 15, 5],
  ]);
});

test('a list of ranges, and a file with an index', () => {
  const sidx = [u32(0), u32(1), u32(1000), u32(0), u32(0), u32(2)];
  const entries = [u32(500), u32(4000), u32(0), u32(300), u32(2500), u32(0)];
  const content = concatBytes([...sidx, ...entries]);
  const head = concatBytes([boxHeader('ftyp', 4), u32(0), boxHeader('sidx', content.length), content]);
  put(at('one.mp4'), concatBytes([head, new Uint8Array(800)]));
  const found = readMpd(`<Period><AdaptationSet mimeType="video/mp4">
    <Representation id="list" bandwidth="1"><BaseURL>l.mp4</BaseURL><SegmentList duration="4">
      <Initialization range="0-99"/><SegmentURL mediaRange="100-199"/><SegmentURL media="m.mp4"/></SegmentList></Representation>
    <Representation id="index" bandwidth="2"><BaseURL>one.mp4</BaseURL></Representation>
    <Representation id="range" bandwidth="2"><BaseURL>one.mp4</BaseURL><SegmentBase indexRange="12-${head.length - 1}"/></Representation>
  </AdaptationSet></Period>`);
  const [list, index, range] = found.map((one: { segments: object[] }) => one.segments);
  expect(list).toEqual([
    { file: './l.mp4', start: 100, end: 200, startSeconds: 0, seconds: 4 },
    { file: './m.mp4', startSeconds: 4, seconds: 4 },
  ]);
  const first = { file: './one.mp4', start: head.length, end: head.length + 500, startSeconds: 0, seconds: 4 };
  expect(index[0]).toEqual(first);
  expect(index[1]).toMatchObject({ start: head.length + 500, end: head.length + 800, startSeconds: 4, seconds: 2.5 });
  expect(range).toEqual(index);
});

const VARIANT = `#EXTM3U
#EXT-X-MAP:URI="v.mp4",BYTERANGE="90@10"
#EXTINF:4.004,
#EXT-X-BYTERANGE:500@100
v.mp4
#EXTINF:4.004,
#EXT-X-BYTERANGE:400
v.mp4
#EXT-X-DISCONTINUITY
#EXTINF:2,
w.ts?token=1
#EXT-X-ENDLIST
`;

test("HLS: variants by hls.js's ids, byte ranges, discontinuities", () => {
  put(at('v/low.m3u8'), VARIANT);
  put(at('v/high.m3u8'), VARIANT);
  const found = read(
    `#EXTM3U
#EXT-X-STREAM-INF:BANDWIDTH=900,AVERAGE-BANDWIDTH=800,CODECS="mp4a.40.2,hvc1.1.6.L93.B0",RESOLUTION=640x360,FRAME-RATE=25.000
v/low.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=900,RESOLUTION=1280x720,CODECS="avc1.64001f"
v/high.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=950,CODECS="avc1.64001f",AUDIO="other"
v/high.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=64,CODECS="mp4a.40.2"
v/sound.m3u8
`,
    'master.m3u8',
  );
  const size = { width: 640, height: 360 };
  const codec = 'hvc1.1.6.L93.B0';
  expect(found[0]).toMatchObject({ id: '900-640x360', bitrateBps: 800, ...size, frameRate: 25, codec });
  expect(found[1]).toMatchObject({ id: '900-1280x720', bitrateBps: 900 });
  expect(found).toHaveLength(2);
  expect(found[0].segments).toEqual([
    { file: './v/v.mp4', start: 100, end: 600, startSeconds: 0, seconds: 4.004 },
    { file: './v/v.mp4', start: 600, end: 1000, startSeconds: 4.004, seconds: 4.004 },
    { file: './v/w.ts', startSeconds: 8.008, seconds: 2 },
  ]);
});

test('HLS: the playlist of one variant, with its mean bitrate', () => {
  put(at('a.ts'), new Uint8Array(1000));
  const [only, ...others] = read('#EXTM3U\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n', 'one.m3u8');
  expect(only).toMatchObject({ id: '0', bitrateBps: 2000 });
  expect(others).toEqual([]);
});

const VIDEO = (content: string) =>
  mpd(`<Period><AdaptationSet contentType="video">${content}</AdaptationSet></Period>`);
const ONE = (content: string, bandwidth = 9) =>
  VIDEO(`<Representation id="v" bandwidth="${bandwidth}">${content}</Representation>`);

test.each([
  ['hello', 'a.txt: expected an MPD, or a playlist that begins with #EXTM3U, got "hello"'],
  ['<MPD type="dynamic"/>', 'a.txt: expected a static MPD, got a dynamic one'],
  [VIDEO(''), 'a.txt: expected video with segments, got none'],
  [VIDEO('<ContentProtection/><Representation/>'), 'expected media without encryption, got ContentProtection'],
  [ONE('<SegmentTemplate media="m" duration="4"/>', 0), 'v: expected a bandwidth above 0, got "0"'],
  [ONE('<SegmentTemplate media="m"/>'), 'v: expected a duration of segments, got 0'],
  [ONE('<SegmentTemplate media="m" duration="1" timescale="99999999"/>'), 'fewer than 1000000 segments, got 6049999'],
  [
    ONE('<SegmentTemplate media="m"><SegmentTimeline><S d="1" r="2147483647"/></SegmentTimeline></SegmentTemplate>'),
    'v: expected fewer than 1000000 segments, got 2147483648',
  ],
  ['<MPD ', 'a.txt: expected a whole MPD, got "<MPD "'],
  [ONE('<SegmentTemplate media="http://[" duration="4"/>'), 'http://[: expected a file on disk'],
  [ONE('<SegmentTemplate media="a%2Fb" duration="4"/>'), 'a%2Fb: expected a file on disk'],
  [ONE('<BaseURL>cut.mp4</BaseURL>'), 'cut.mp4: expected an MP4 file with an index of its segments (the box "sidx")'],
  [ONE('<BaseURL>http://a/</BaseURL>'), 'expected a file on disk (download the stream first), got "http://a/"'],
  [ONE(''), 'v: expected segments or a BaseURL'],
  [ONE('<BaseURL>x.mp4</BaseURL>'), 'expected an MP4 file with an index'],
  ['#EXTM3U\n#EXTINF:4,\na.ts\n', 'a.txt: expected a complete playlist, with #EXT-X-ENDLIST'],
  ['#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="k"\n', 'a.txt:2: expected media without encryption'],
  ['#EXTM3U\n#EXTINF:x,\na.ts\n', 'a.txt:2: expected a duration above 0, got "#EXTINF:x,"'],
  ['#EXTM3U\n#EXT-X-STREAM-INF:CODECS="avc1"\na.m3u8\n', 'a.txt:3: expected a BANDWIDTH above 0'],
])('refuses %j', (manifest, message) => {
  put(at('x.mp4'), 'a text, and no MP4 at all');
  // The index has two segments, and no entry.
  const cut = [boxHeader('ftyp', 0), boxHeader('sidx', 32), ...[0, 1, 1000, 0, 0, 2, 0, 0].map(u32)];
  put(at('cut.mp4'), concatBytes(cut));
  expect(() => read(manifest, 'a.txt')).toThrow(message);
});
