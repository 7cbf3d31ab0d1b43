import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll } from '../../abr/property.fixture.ts';
import { SCENARIOS, segmentSizesBits } from '../scenarios.ts';
import { box, boxesIn, concatBytes, findBox, fullBox, u32, u64 } from './boxes.ts';
import { type ByteRun, ByteRuns, READ_BYTES } from './byte-runs.ts';
import { audioClip, MAX_REPRESENTATIONS, videoClip } from './clips.ts';
import { composeSegment, naturalSegmentBytes, type SegmentSpec, syncChunks } from './compose-segment.ts';
import { filmClips } from './film.ts';
import { type Clip, readClip, type Sample } from './fixture.ts';
import { presentation } from './presentation.ts';

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
    const made = presentation({ ...scenario, segmentSizesBits: segmentSizesBits(scenario), clips });
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
