import { expect, test } from '@jest/globals';
import { type LiveStream, SCENARIOS, segmentSizesBits } from '../scenarios.ts';
import { boxesIn, findBox } from './boxes.ts';
import { type PresentationOptions, presentation } from './presentation.ts';

const ladderBps = [300e3, 750e3, 1200e3];
/** Segments of 4 s, each 1 % larger than the segment before. */
const sizes = Array.from({ length: 5 }, (_, i) => ladderBps.map((bps) => bps * 4 * (1 + i / 100)));
const base: PresentationOptions = { ladderBps, segmentSeconds: 4, segmentSizesBits: sizes };

test('serves every scenario with its sizes', () => {
  for (const scenario of Object.values(SCENARIOS)) {
    const segmentSizes = segmentSizesBits(scenario);
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
