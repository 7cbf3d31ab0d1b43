import { describe, expect, test } from '@jest/globals';
import { SCENARIOS, segmentSizesBits } from '../scenarios.ts';
import { findBox } from './boxes.ts';
import { type PresentationOptions, presentation } from './presentation.ts';

const sizes = (segments: number, ladderBps: readonly number[]) =>
  Array.from({ length: segments }, (_, i) => ladderBps.map((bps) => 8 * Math.round((bps * 4 * (1 + i / 100)) / 8)));
const ladderBps = [300e3, 750e3, 1200e3];
const base: PresentationOptions = { ladderBps, segmentSeconds: 4, segmentSizesBits: sizes(5, ladderBps) };

describe('presentation', () => {
  test('serves every scenario with its sizes', () => {
    for (const scenario of Object.values(SCENARIOS)) {
      const segmentSizes = segmentSizesBits(scenario);
      const { find, sizes: published } = presentation({ ...scenario, segmentSizesBits: segmentSizes });
      segmentSizes.forEach((row, i) => {
        row.forEach((bits, representation) => {
          expect(published.representations[`video-${representation}`]![i]).toBe(bits / 8);
        });
      });
      const last = find(`video-0/${scenario.segmentCount}.m4s`)!;
      expect(last.body.length).toBe(segmentSizes.at(-1)![0]! / 8);
      expect(last.parts).toEqual([
        { kind: 'segment', start: 0, end: last.body.length, segmentIndex: scenario.segmentCount - 1 },
      ]);
      expect(find(`video-0/${scenario.segmentCount + 1}.m4s`)).toBeUndefined();
      expect(find('video-0/init.mp4')!.parts[0]!.kind).toBe('init');
    }
  });

  test('a ladder of one is a presentation', () => {
    const one = presentation({ ...base, ladderBps: [1e6], segmentSizesBits: sizes(3, [1e6]) });
    expect(one.videoIds).toEqual(['video-0']);
    expect(one.manifest.match(/<Representation /g)).toHaveLength(1);
  });

  test('SegmentBase: the index gives the bytes of each segment', () => {
    const whole = presentation({ ...base, addressing: 'base' });
    const file = whole.find('video-1.mp4')!;
    const [, indexFrom, indexTo] = /indexRange="(\d+)-(\d+)"/.exec(whole.manifest.split('id="video-1"')[1]!)!;
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
    const { manifest } = presentation({ ...base, periods: 2, audio: true });
    const numbers = [...manifest.matchAll(/startNumber="(\d+)" presentationTimeOffset="(\d+)".*?"video-0/g)];
    expect(numbers.map(([, number, offset]) => [number, offset])).toEqual([
      ['1', '0'],
      ['3', String(2 * 4 * 24_000)],
    ]);
    expect([...manifest.matchAll(/<Period id="\d" start="(.*?)" duration="(.*?)"/g)].map((m) => m.slice(1))).toEqual([
      ['PT0S', 'PT8S'],
      ['PT8S', 'PT12S'],
    ]);
    expect(manifest.match(/contentType="audio"/g)).toHaveLength(2);
  });

  test('the error names an impossible option and its value', () => {
    const tooSmall = base.segmentSizesBits.map((row, i) => (i === 3 ? [800, 800, 800] : row));
    expect(() => presentation({ ...base, segmentSizesBits: tooSmall })).toThrow(
      /segmentSizesBits\[3\]\[0\]: expected whole bytes, at least \d+ .*got 100/,
    );
    expect(() => presentation({ ...base, segmentSizesBits: sizes(5, [0, 0, 0]) })).toThrow(
      /segmentSizesBits\[0\]\[0\].*got 0/,
    );
    expect(() => presentation({ ...base, ladderBps: [] })).toThrow(/ladderBps: expected 1 to 10/);
    expect(() => presentation({ ...base, segmentSizesBits: [] })).toThrow(/a segment or more/);
    expect(() => presentation({ ...base, periods: 6 })).toThrow(/periods: expected 1 to 5, got 6/);
    expect(() => presentation({ ...base, periods: 2, addressing: 'base' })).toThrow(/1 with addressing "base", got 2/);
  });
});
