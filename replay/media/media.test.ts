import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll } from '../../abr/property.fixture.ts';
import { type LiveStream, SCENARIOS, segmentSizesBits as sizesOf } from '../scenarios.ts';
import { box, boxesIn, concatBytes, findBox, fullBox, u32, u64 } from './boxes.ts';
import { type ByteRun, ByteRuns, READ_BYTES } from './byte-runs.ts';
import { audioClip, MAX_REPRESENTATIONS, videoClip } from './clips.ts';
import { composeSegment, naturalSegmentBytes, type SegmentSpec, syncChunks } from './compose-segment.ts';
import { filmClips } from './film.ts';
import { type Clip, readClip, type Sample } from './fixture.ts';
import { type PresentationOptions, presentation } from './presentation.ts';

/** Parses a segment as a browser does. */
function readBack(clip: Clip, segment: Uint8Array) {
  const tfdt = findBox(segment, 'moof/traf/tfdt').start;
  const startTicks = Number(new DataView(segment.buffer, segment.byteOffset).getBigUint64(tfdt + 4));
  return { startTicks, samples: readClip(concatBytes([clip.init, segment])).samples };
}

/** Jest compares texts faster than arrays of bytes. */
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const described = ({ bytes, ...sample }: Sample) => ({ ...sample, text: textOf(bytes) });

/** A segment in one chunk. */
const bytesOf = (request: SegmentSpec) => composeSegment(request)[0]!.toBytes();

/** Types of the NAL units in a sample with 4-byte lengths. */
function nalTypes(sample: Uint8Array): number[] {
  const types: number[] = [];
  const view = new DataView(sample.buffer, sample.byteOffset, sample.length);
  let at = 0;
  while (at < sample.length) {
    types.push(sample[at + 4]! & 0x1f);
    at += 4 + view.getUint32(at);
  }
  expect(at).toBe(sample.length);
  return types;
}

test('the film fits each scenario, in which a higher rung looks better up to the sixth', () => {
  const clips = filmClips();
  const sizes = clips.map(({ samples }) => samples.reduce((sum, { bytes }) => sum + bytes.length, 0));
  expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
  expect(new Set(sizes).size).toBe(6);
  for (const { samples, codec } of clips) {
    expect(samples).toHaveLength(144);
    expect(samples.flatMap(({ isSync }, i) => (isSync ? [i] : []))).toEqual([0, 24, 48, 72, 96, 120]);
    expect(codec).toMatch(/^avc1\.64/);
  }
  for (const scenario of Object.values(SCENARIOS)) {
    const made = presentation({ ...scenario, segmentSizesBits: sizesOf(scenario), clips });
    expect(made.manifest()).toContain('width="512" height="288"');
  }
});

test('every video clip has its own picture size and 4 s of pictures that begin with a sync sample', () => {
  const clips = Array.from({ length: MAX_REPRESENTATIONS }, (_, i) => videoClip(i));
  expect(new Set(clips.map(({ width }) => width)).size).toBe(MAX_REPRESENTATIONS);
  for (const clip of clips) {
    expect(clip.codec).toMatch(/^avc1\.6400[0-9a-f]{2}$/);
    expect(clip.samples.reduce((sum, { durationTicks }) => sum + durationTicks, 0)).toBe(4 * clip.timescale);
    expect(clip.samples.filter(({ isSync }) => isSync).length).toBe(4);
    expect(clip.samples[0]!.isSync).toBe(true);
  }
  expect(() => videoClip(MAX_REPRESENTATIONS)).toThrow(RangeError);
});

test('a segment has exactly the prescribed size in equal chunks, and the pictures with their times', () => {
  const durations = [...[0.5, 1, 1.001, 2, 4, 6, 10].map((seconds) => [seconds]), [2, 0.25], [2, 0.5], [1, 0.125]];
  durations.push([4, 4], [1.001, 0.0715]);
  const any = fc.record({
    representation: fc.nat(MAX_REPRESENTATIONS - 1),
    index: fc.nat(2000),
    duration: fc.constantFrom(...(durations as [number, number?][])),
    padding: fc.constantFrom('free-box', 'mdat', 'filler-data'),
    extra: fc.constantFrom(500, 20_000, 300_000),
    more: fc.nat(1000),
  });
  forAll([any], { seed: 1, numRuns: 100 }, ({ representation, index, duration, padding, extra, more }) => {
    const [segmentSeconds, chunkSeconds] = duration;
    const clip = videoClip(representation);
    const place = { clip, index, segmentSeconds, ...(chunkSeconds && { chunkSeconds }) };
    const sizeBytes = naturalSegmentBytes(place) + extra + more;
    const chunks = composeSegment({ ...place, padding, sizeBytes });
    const sizes = chunks.map(({ length }) => length);
    expect(sizes).toHaveLength(chunkSeconds ? Math.round(segmentSeconds / chunkSeconds) : 1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(sizeBytes);
    if (extra === 300_000) expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);

    let expectedTicks = Math.round(index * segmentSeconds * clip.timescale);
    const read = chunks.map((chunk) => readBack(clip, chunk.toBytes()));
    read.forEach(({ startTicks, samples }, k) => {
      expect(startTicks).toBe(expectedTicks);
      const dueTicks = (index * segmentSeconds + k * (chunkSeconds ?? 0)) * clip.timescale;
      expect(startTicks - dueTicks).toBeGreaterThan(-1);
      expect(startTicks - dueTicks).toBeLessThan(clip.samples[0]!.durationTicks);
      expectedTicks += samples.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
    });
    expect(expectedTicks).toBe(Math.round((index + 1) * segmentSeconds * clip.timescale));
    expect(syncChunks(place)).toEqual(read.map(({ samples }) => samples[0]!.isSync));
    const pictures = read.flatMap(({ samples }) => samples);
    const whole = readBack(clip, bytesOf({ clip, index, segmentSeconds })).samples;
    expect(whole[0]!.isSync).toBe(true);
    expect(whole.every(({ durationTicks }) => durationTicks > 0)).toBe(true);
    if (padding !== 'filler-data') expect(pictures.map(described)).toEqual(whole.map(described));
    else expect(pictures).toHaveLength(whole.length);
  });
});

test.each([
  ['free-box', ['free', 'moof', 'mdat']],
  ['filler-data', ['moof', 'mdat']],
  ['mdat', ['moof', 'mdat']],
] as const)("%s padding: the boxes are %j, and the pictures are the clip's", (padding, types) => {
  const clip = videoClip(3);
  const segment = bytesOf({ clip, index: 7, segmentSeconds: 4, sizeBytes: 500_000, padding });
  expect(boxesIn(segment).map(({ type }) => type)).toEqual(types);
  const own = clip.samples.map(({ bytes }) => bytes);
  const { samples } = readBack(clip, segment);
  expect(samples.map(({ bytes }, i) => textOf(bytes.slice(0, own[i]!.length)))).toEqual(own.map(textOf));
});

test('every picture is followed by a share of the filler data, in NAL units of type 12', () => {
  const clip = videoClip(0);
  const sizeBytes = 100_003;
  const segment = bytesOf({ clip, index: 0, segmentSeconds: 2, sizeBytes, padding: 'filler-data' });
  const { samples } = readBack(clip, segment);
  expect(samples.every(({ bytes }) => nalTypes(bytes).at(-1) === 12)).toBe(true);
  const sizes = samples.map(({ bytes }) => bytes.length);
  expect(Math.max(...sizes)).toBeLessThan(4 * Math.min(...sizes));
});

test('`mdat` padding lies between `moof` and the pictures', () => {
  const clip = videoClip(3);
  const place = { clip, index: 7, segmentSeconds: 2, chunkSeconds: 0.25 };
  const bytes = bytesOf({ ...place, sizeBytes: 800_000, padding: 'mdat' });
  expect(bytes.subarray(findBox(bytes, 'mdat').start).findIndex((byte) => byte !== 0)).toBeGreaterThan(90_000);
});

test.each([
  [{ sizeBytes: 1000 }, /chunk 0 of segment 2, 352x198: expected \d+ bytes, .* got 1000/],
  [{ sizeBytes: 1000, chunkSeconds: 0.25 }, /chunk 0 of segment 2, /],
  [{ chunkSeconds: 0.02 }, /live.chunkSeconds: expected at least a sample .* got 0.02/],
])('refuses %j, too small for pictures', (wrong, message) => {
  expect(() => composeSegment({ clip: videoClip(9), index: 2, segmentSeconds: 2, ...wrong })).toThrow(message);
});

test('audio segments follow each other without gap or overlap', () => {
  const clip = audioClip();
  let expected = 0;
  for (let index = 0; index < 20; index++) {
    const segment = bytesOf({ clip, index, segmentSeconds: 2 });
    expect(segment.length).toBe(naturalSegmentBytes({ clip, index, segmentSeconds: 2 }));
    const { startTicks, samples } = readBack(clip, segment);
    expect(startTicks).toBe(expected);
    expect(Math.abs(startTicks - index * 2 * clip.timescale)).toBeLessThan(1024);
    expected += samples.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
  }
});

const file = box('moov', box('trak', fullBox('tkhd', 1, 7, u64(2 ** 40), u32(9))), box('free'));

test('written boxes are found by their path', () => {
  const { start, end } = findBox(file, 'moov/trak/tkhd');
  const view = new DataView(file.buffer);
  expect([view.getUint32(start), view.getUint32(start + 12)]).toEqual([0x01000007, 9]);
  expect(view.getBigUint64(start + 4)).toBe(2n ** 40n);
  expect(end - start).toBe(16);
  const moov = findBox(file, 'moov');
  expect(boxesIn(file, moov.start, moov.end).map(({ type }) => type)).toEqual(['trak', 'free']);
});

test('the error names a box that is missing or exceeds the end', () => {
  expect(() => findBox(file, 'moov/mvex')).toThrow(/"mvex" of moov\/mvex/);
  expect(() => boxesIn(file.subarray(0, 20))).toThrow(/"moov" at byte 0/);
  expect(() => boxesIn(file.subarray(0, 4))).toThrow(/4 bytes left/);
});

const runArbitrary: fc.Arbitrary<ByteRun> = fc.oneof(
  fc.uint8Array({ maxLength: 20 }),
  fc.record({ fill: fc.constantFrom(0, 0xff), count: fc.nat(30) }),
);
const plain = (runs: readonly ByteRun[]): number[] =>
  runs.flatMap((run) => (run instanceof Uint8Array ? [...run] : Array<number>(run.count).fill(run.fill)));

test('any range equals that of the plain bytes', () => {
  const anyRuns = fc.array(runArbitrary, { maxLength: 8 });
  forAll([anyRuns, fc.nat(120), fc.nat(120)], { seed: 1, numRuns: 500 }, (runs, start, end) => {
    const bytes = plain(runs);
    const joined = ByteRuns.concat(runs.map((run) => new ByteRuns([run])));
    const read = [...joined.read(start, end)].flatMap((piece) => [...piece]);
    expect(read).toEqual(bytes.slice(start, Math.max(start, end)));
    expect([...joined.toBytes()]).toEqual(bytes);
  });
});

test('a long run is read in small pieces of one shared block', () => {
  const runs = new ByteRuns([{ fill: 0, count: 3 * READ_BYTES + 5 }]);
  const pieces = [...runs.read()];
  expect(pieces.map(({ length }) => length)).toEqual([READ_BYTES, READ_BYTES, READ_BYTES, 5]);
  expect(pieces[0]!.buffer).toBe(pieces[3]!.buffer);
});

const ladderBps = [300e3, 750e3];
/** Segments of 4 s, each 1 % larger than the segment before. */
const segmentSizesBits = Array.from({ length: 6 }, (_, i) => ladderBps.map((bps) => bps * 4 * (1 + i / 100)));
const base: PresentationOptions = { ladderBps, segmentSeconds: 4, segmentSizesBits };
const live: LiveStream = { chunkSeconds: 1, encoderLatencySeconds: 0.3, targetLatencySeconds: 3, timeShiftSeconds: 8 };
const joinUtcMs = Date.UTC(2025, 5, 1, 12);
const at = (sessionSeconds: number) => ({ sessionSeconds, utcMs: joinUtcMs + sessionSeconds * 1000 });

/** A playlist's tags, its segments with theirs, the parts after the last segment, and the other renditions. */
function parse(text: string) {
  expect(text.startsWith('#EXTM3U\n#EXT-X-VERSION:7\n')).toBe(true);
  const tags: Record<string, string> = {};
  const segments: { path: string; seconds: number; tags: Record<string, string>; parts: string[] }[] = [];
  let own: Record<string, string> = {};
  let parts: string[] = [];
  let hint: string | undefined;
  const reports: string[] = [];
  for (const line of text.trimEnd().split('\n')) {
    const [, name = '', value = ''] = /^#(?:EXT-X-)?([A-Z0-9-]+):?(.*)$/.exec(line) ?? [];
    if (name === 'PART') parts.push(value);
    else if (name === 'PRELOAD-HINT') hint = value;
    else if (name === 'RENDITION-REPORT') reports.push(value);
    else if (['EXTINF', 'BITRATE', 'BYTERANGE', 'STREAM-INF'].includes(name)) own[name] = value;
    else if (name !== '') tags[name] = value;
    else {
      segments.push({ path: line, seconds: Number.parseFloat(own['EXTINF'] ?? 'NaN'), tags: own, parts });
      own = {};
      parts = [];
    }
  }
  return { tags, segments, parts, hint, reports };
}

const attributes = (text: string) =>
  Object.fromEntries([...text.matchAll(/([A-Z-]+)=(?:"(.*?)"|([^,]*))/g)].map(([, name, a, b]) => [name, a ?? b]));

test('the variants have their peak, mean, codecs, picture and playlist', () => {
  const { segments, tags } = parse(presentation(base).playlist('master.m3u8')!);
  expect(tags).toHaveProperty('INDEPENDENT-SEGMENTS');
  const usual = { CODECS: 'avc1.64000a', 'FRAME-RATE': '24.000' };
  expect(segments.map(({ path, tags }) => ({ path, ...attributes(tags['STREAM-INF']!) }))).toEqual([
    { path: 'video-0.m3u8', BANDWIDTH: '315000', 'AVERAGE-BANDWIDTH': '307500', ...usual, RESOLUTION: '64x36' },
    { path: 'video-1.m3u8', BANDWIDTH: '787500', 'AVERAGE-BANDWIDTH': '768750', ...usual, RESOLUTION: '96x54' },
  ]);
});

test('audio is a rendition of every variant, and counts in their bitrates', () => {
  const { find, playlist } = presentation({ ...base, audio: true });
  const { segments, tags } = parse(playlist('master.m3u8')!);
  expect(attributes(tags['MEDIA']!)).toMatchObject({ TYPE: 'AUDIO', 'GROUP-ID': 'audio', URI: 'audio.m3u8' });
  const { BANDWIDTH, CODECS, AUDIO } = attributes(segments[0]!.tags['STREAM-INF']!);
  expect(AUDIO).toBe('audio');
  expect(CODECS).toMatch(/^avc1\.\w{6},mp4a\.40\.2$/);
  const audio = parse(playlist('audio.m3u8')!).segments.map(({ path }) => find(path)!.body.length);
  expect(Number(BANDWIDTH)).toBeCloseTo(300e3 * 1.05 + (Math.max(...audio) * 8) / 4, -1);
});

test('a track lists every file with its bitrate', () => {
  const { find, playlist } = presentation(base);
  const { tags, segments } = parse(playlist('video-1.m3u8')!);
  expect(tags).toMatchObject({ TARGETDURATION: '4', 'PLAYLIST-TYPE': 'VOD', 'MEDIA-SEQUENCE': '0', ENDLIST: '' });
  expect(tags).toHaveProperty('INDEPENDENT-SEGMENTS');
  expect(find(attributes(tags['MAP']!)['URI']!)!.parts[0]!.kind).toBe('init');
  segments.forEach(({ path, seconds, tags: { BITRATE } }, i) => {
    expect(find(path)!.parts[0]!.segmentIndex).toBe(i);
    expect([seconds, BITRATE]).toEqual([4, String(Math.ceil(segmentSizesBits[i]![1]! / 4000))]);
  });
  expect(segments).toHaveLength(6);
  expect(playlist('video-2.m3u8')).toBeUndefined();
});

test('a file per track is listed by byte ranges', () => {
  const { find, playlist } = presentation({ ...base, addressing: 'base' });
  const { tags, segments } = parse(playlist('video-1.m3u8')!);
  const { parts } = find('video-1.mp4')!;
  const ranges = parts.map(({ start, end }) => `${end - start}@${start}`);
  expect(attributes(tags['MAP']!)).toEqual({ URI: 'video-1.mp4', BYTERANGE: ranges[0] });
  expect(segments.map(({ path, tags: { BYTERANGE } }) => [path, BYTERANGE])).toEqual(
    ranges.slice(2).map((range) => ['video-1.mp4', range]),
  );
});

test('a live stream in parts: what exists, in segments and byte ranges of the next one', () => {
  const { find, playlist } = presentation({ ...base, live });
  // Captured until 10.2 s: two segments and two parts.
  const { tags, segments, parts, hint } = parse(playlist('video-0.m3u8', at(2.5))!);
  const holdBack = { 'HOLD-BACK': '12', 'PART-HOLD-BACK': '2.7' };
  expect(attributes(tags['SERVER-CONTROL']!)).toEqual({ 'CAN-BLOCK-RELOAD': 'YES', ...holdBack });
  expect(tags).toMatchObject({ 'PART-INF': 'PART-TARGET=1', 'MEDIA-SEQUENCE': '0' });
  expect(tags['PROGRAM-DATE-TIME']).toBe('2025-06-01T11:59:52.000Z');
  expect(tags).not.toHaveProperty('ENDLIST');
  expect(segments.map(({ path, parts }) => `${path} ${parts.length}`)).toEqual(['video-0/1.m4s 4', 'video-0/2.m4s 4']);
  const { chunks } = find('video-0/3.m4s')!;
  const [zero, first, second] = chunks!.map(({ end }) => end) as [number, number, number];
  const part = { DURATION: '1', URI: 'video-0/3.m4s', INDEPENDENT: 'YES' };
  const ranges = [`${zero}@0`, `${first - zero}@${zero}`];
  expect(parts.map(attributes)).toEqual(ranges.map((BYTERANGE) => ({ ...part, BYTERANGE })));
  const range = { 'BYTERANGE-START': String(first), 'BYTERANGE-LENGTH': String(second - first) };
  expect(attributes(hint!)).toEqual({ TYPE: 'PART', URI: 'video-0/3.m4s', ...range });
  const whole = parse(playlist('video-0.m3u8', at(4.31))!);
  expect([whole.segments.length, whole.parts.length]).toEqual([3, 0]);
  expect(attributes(whole.hint!)).toMatchObject({ URI: 'video-0/4.m4s', 'BYTERANGE-START': '0' });
  expect(parse(playlist('video-0.m3u8', at(100))!)).toMatchObject({ hint: undefined, reports: [] });
});

test('parts that begin with a key frame, one a second, are independent', () => {
  const { playlist } = presentation({ ...base, live: { ...live, chunkSeconds: 0.25 }, audio: true });
  const independent = (path: string) => {
    const { segments, parts } = parse(playlist(path, at(2.2))!);
    const isMarked = (part: string) => 'INDEPENDENT' in attributes(part);
    return [segments.at(-1)!.parts.map(isMarked), parts.map(isMarked)];
  };
  const second = [true, false, false, false];
  expect(independent('video-1.m3u8')).toEqual([Array(4).fill(second).flat(), [...second, ...second.slice(0, 3)]]);
  expect(independent('audio.m3u8').flat()).toEqual(Array.from({ length: 23 }, () => true));
});

test('a stream in parts names the other renditions, which are as far as this one', () => {
  const { playlist } = presentation({ ...base, live, audio: true });
  const reportsOf = (path: string) => parse(playlist(path, at(2.5))!).reports;
  expect(reportsOf('video-0.m3u8')).toEqual(['URI="video-1.m3u8"', 'URI="audio.m3u8"']);
  expect(reportsOf('audio.m3u8')).toEqual(['URI="video-0.m3u8"', 'URI="video-1.m3u8"']);
});

test('the window slides, keeps three segments, and stays at the end of the stream', () => {
  const { playlist } = presentation({ ...base, live });
  const listed = (sessionSeconds: number) => {
    const { tags, segments } = parse(playlist('video-0.m3u8', at(sessionSeconds))!);
    return [tags['MEDIA-SEQUENCE'], segments[0]!.path, segments.length, 'ENDLIST' in tags, tags['PROGRAM-DATE-TIME']];
  };
  expect(listed(8.31)).toEqual(['1', 'video-0/2.m4s', 3, false, '2025-06-01T11:59:56.000Z']);
  expect(listed(12.31)).toEqual(['2', 'video-0/3.m4s', 3, false, '2025-06-01T12:00:00.000Z']);
  expect(listed(100)).toEqual(['3', 'video-0/4.m4s', 3, true, '2025-06-01T12:00:04.000Z']);
});

test('a live stream of whole segments has no parts', () => {
  const whole = { ...live, chunkSeconds: 4, targetLatencySeconds: 14 };
  const { playlist } = presentation({ ...base, live: whole, audio: true });
  const { tags, segments, parts, hint, reports } = parse(playlist('audio.m3u8', at(4.5))!);
  expect(attributes(tags['SERVER-CONTROL']!)).toEqual({ 'CAN-BLOCK-RELOAD': 'YES', 'HOLD-BACK': '13.7' });
  expect([segments.length, segments[0]!.parts, parts, hint, reports]).toEqual([3, [], [], undefined, []]);
  expect(tags).not.toHaveProperty('PART-INF');
});

test('a blocking reload waits for its segment or part', () => {
  const existsAt = presentation({ ...base, live }).playlistExistsAtSeconds;
  expect(existsAt({ mediaSequence: 2 })).toBeCloseTo(4.3, 9);
  expect(existsAt({ mediaSequence: 2, part: 0 })).toBeCloseTo(1.3, 9);
  // After the last part comes the next segment's first.
  expect(existsAt({ mediaSequence: 2, part: 4 })).toBeCloseTo(5.3, 9);
  expect(existsAt({ mediaSequence: 5, part: 4 })).toBe(Number.NEGATIVE_INFINITY);
  expect(presentation(base).playlistExistsAtSeconds({ mediaSequence: 9 })).toBe(Number.NEGATIVE_INFINITY);
});

describe('presentation', () => {
  const ladderBps = [300e3, 750e3, 1200e3];
  /** Segments of 4 s, each 1 % larger than the segment before. */
  const sizes = Array.from({ length: 5 }, (_, i) => ladderBps.map((bps) => bps * 4 * (1 + i / 100)));
  const base: PresentationOptions = { ladderBps, segmentSeconds: 4, segmentSizesBits: sizes };

  test('serves every scenario with its sizes', () => {
    for (const scenario of Object.values(SCENARIOS)) {
      const segmentSizes = sizesOf(scenario);
      const { find, sizes: published } = presentation({ ...scenario, segmentSizesBits: segmentSizes });
      for (const representation of scenario.ladderBps.keys()) {
        const bytes = segmentSizes.map((row) => row[representation]! / 8);
        expect(published.representations[`video-${representation}`]).toEqual(bytes);
      }
      const { segmentCount } = scenario;
      const { body, parts } = find(`video-0/${segmentCount}.m4s`)!;
      expect(body.length).toBe(segmentSizes.at(-1)![0]! / 8);
      expect(parts).toEqual([{ kind: 'segment', start: 0, end: body.length, segmentIndex: segmentCount - 1 }]);
      expect(find(`video-0/${segmentCount + 1}.m4s`)).toBeUndefined();
      expect(find('video-0/init.mp4')!.parts[0]!.kind).toBe('init');
    }
  });

  test('SegmentBase: the index gives the bytes of each segment', () => {
    const whole = presentation({ ...base, addressing: 'base' });
    const file = whole.find('video-1.mp4')!;
    const [, indexFrom, indexTo] = /indexRange="(\d+)-(\d+)"/.exec(whole.manifest().split('id="video-1"')[1]!)!;
    const bytes = file.body.toBytes();
    const sidx = findBox(bytes, 'sidx');
    expect([sidx.start - 8, sidx.end - 1]).toEqual([Number(indexFrom), Number(indexTo)]);
    const view = new DataView(bytes.buffer);
    const segments = file.parts.filter(({ kind }) => kind === 'segment');
    segments.forEach(({ start, end, segmentIndex }, i) => {
      expect(segmentIndex).toBe(i);
      expect(end - start).toBe(base.segmentSizesBits[i]![1]! / 8);
      expect(view.getUint32(sidx.start + 32 + 12 * i)).toBe(end - start);
      expect(findBox(bytes.subarray(start, end), 'moof/traf/tfdt').start).toBeGreaterThan(0);
    });
    expect(segments.at(-1)!.end).toBe(bytes.length);
  });

  test('periods continue each other', () => {
    const manifest = presentation({ ...base, periods: 2, audio: true }).manifest();
    const found = (pattern: RegExp) => [...manifest.matchAll(pattern)].map(([, ...groups]) => groups.join(' '));
    const numbers = found(/startNumber="(\d+)" presentationTimeOffset="(\d+)".*?"video-0/g);
    expect(numbers).toEqual(['1 0', `3 ${2 * 4 * 24_000}`]);
    expect(found(/<Period id="\d" start="(.*?)" duration="(.*?)"/g)).toEqual(['PT0S PT8S', 'PT8S PT12S']);
    expect(manifest.match(/contentType="audio"/g)).toHaveLength(2);
  });

  const rates = { playbackRates: { min: 0.95, max: 1.05 } };
  const target = { targetLatencySeconds: 2, timeShiftSeconds: 8 };
  const live: LiveStream = { ...target, ...rates, chunkSeconds: 0.5, encoderLatencySeconds: 0.3 };
  const stream: PresentationOptions = { ...base, live };
  const startMs = Date.UTC(2025, 5, 1, 12);
  const at = (sessionSeconds: number) => ({ sessionSeconds, utcMs: startMs + sessionSeconds * 1000 });
  const whole = { ...base, live: { ...live, chunkSeconds: 4, targetLatencySeconds: 12 }, audio: true };

  test('a live file says when each of its chunks exists', () => {
    const { find } = presentation({ ...stream, audio: true });
    const file = find('video-2/4.m4s')!;
    expect(file.body.length).toBe(base.segmentSizesBits[3]![2]! / 8);
    const times = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4].map((end) => expect.closeTo(12 + end + 0.3 - 8, 9));
    expect(file.chunks!.map(({ existsAtSeconds }) => existsAtSeconds)).toEqual(times);
    expect(file.chunks!.at(-1)!.end).toBe(file.body.length);
    let start = 0;
    for (const { end } of file.chunks!) {
      expect(boxesIn(file.body.toBytes().subarray(start, end)).map(({ type }) => type)).toEqual(['moof', 'mdat']);
      start = end;
    }
    expect(find('audio/4.m4s')!.chunks).toHaveLength(8);
    expect(find('video-2/init.mp4')!.chunks).toBeUndefined();
    expect(presentation(base).find('video-2/4.m4s')!.chunks).toBeUndefined();
  });

  test('the manifest of a low-latency stream', () => {
    const text = presentation(stream).manifest(at(1.5));
    expect(text).toContain('type="dynamic"');
    expect(text).toContain('availabilityStartTime="2025-06-01T11:59:52.000Z"');
    expect(text).toContain('publishTime="2025-06-01T12:00:01.500Z"');
    expect(text).toContain('timeShiftBufferDepth="PT8S" suggestedPresentationDelay="PT2S"');
    expect(text).toContain('<Latency target="2000"/>');
    expect(text).toContain('<PlaybackRate min="0.95" max="1.05"/>');
    expect(text).toContain('<UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="utc"/>');
    // A segment may be requested when its first chunk exists: 4 s - 0.5 s - 0.3 s before its nominal time.
    const template = 'availabilityTimeOffset="3.2" availabilityTimeComplete="false" duration="96000" startNumber="1"';
    expect(text.split(template)).toHaveLength(1 + ladderBps.length);
  });

  test('periods of a live stream', () => {
    const text = presentation({ ...stream, periods: 2 }).manifest(at(1.5));
    const second = text.split('<Period id="1" start="PT8S" duration="PT12S">')[1]!;
    const template = 'availabilityTimeOffset="3.2" availabilityTimeComplete="false" duration="96000"';
    expect(second).toContain(`${template} startNumber="3" presentationTimeOffset="192000"`);
  });

  test('the manifest of a live stream of whole segments', () => {
    const text = presentation(whole).manifest(at(0));
    expect(text).toContain('availabilityTimeOffset="-0.3" duration="96000" startNumber="1"');
    expect(text).toContain('<Latency target="12000"/>');
    expect(text).not.toContain('availabilityTimeComplete');
  });

  test('the error names an impossible option and its value', () => {
    const tooSmall = base.segmentSizesBits.map((row, i) => (i === 3 ? [800, 800, 800] : row));
    const message = /segmentSizesBits\[3\]\[0\]: expected whole bytes, at least \d+ .*got 100/;
    expect(() => presentation({ ...base, segmentSizesBits: tooSmall })).toThrow(message);
    const none = Array(5).fill([0, 0, 0]);
    expect(() => presentation({ ...base, segmentSizesBits: none })).toThrow(/segmentSizesBits\[0\]\[0\].*got 0/);
    expect(() => presentation({ ...base, ladderBps: [] })).toThrow(/ladderBps: expected 1 to 10/);
  });
});
