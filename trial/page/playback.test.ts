import { expect, test } from '@jest/globals';
import { PERCEIVED_PRICES } from '../../abr/qoe/perceived-qoe.ts';
import { perceivedQoe } from '../../abr/qoe/session-qoe.ts';
import { type Link, leoLink, noisyLink } from '../../predictor/link/handover-clock/links.fixture.ts';
import { LinkRecord } from './link.ts';
import { type ObservedElement, Playback } from './playback.ts';

/** A session in steps of 0.1 s, with an element that tests change. */
class Screen {
  nowSeconds = 100;
  readonly playback = new Playback(100);
  readonly element: { -readonly [K in keyof ObservedElement]: ObservedElement[K] } = {
    ...{ currentTime: 0, duration: 600, ended: false, paused: false, playbackRate: 1, readyState: 4, seeking: false },
  };

  pass(seconds: number, rate = this.element.paused ? 0 : this.element.playbackRate, latencySeconds?: number): this {
    for (let i = 0; i < Math.round(seconds * 10); i++) {
      this.nowSeconds += 0.1;
      this.element.currentTime += 0.1 * rate;
      this.playback.sample(this.nowSeconds, this.element, latencySeconds);
    }
    return this;
  }

  changes(change: Partial<ObservedElement>): this {
    Object.assign(this.element, change);
    return this;
  }

  waits(seconds: number): this {
    return this.changes({ readyState: 2 }).pass(seconds, 0).changes({ readyState: 4 });
  }

  seeks(currentTime: number, seconds: number): this {
    return this.changes({ currentTime, seeking: true }).pass(seconds, 0).changes({ seeking: false });
  }

  /** Whole tenths. */
  figures(isLive = false) {
    const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value);
    const figures = this.playback.figures(isLive, [8], (mbps) => 10 * mbps);
    return JSON.parse(JSON.stringify(figures, rounded));
  }
}

test('a stall is waiting after the first picture, with or without a sign of it', () => {
  const screen = new Screen().pass(2, 0).pass(10).waits(3).pass(5);
  expect(screen.figures()).toMatchObject({ startupSeconds: 2, watchedSeconds: 15, stallSeconds: 3, stallCount: 1 });
  screen.pass(4, 0).pass(1);
  expect(screen.figures()).toMatchObject({ watchedSeconds: 16, stallSeconds: 7, stallCount: 2 });
  // As dash.js and Shaka Player do it.
  screen.changes({ playbackRate: 0 }).pass(0.4).changes({ playbackRate: 1 }).pass(1);
  expect(screen.figures()).toMatchObject({ watchedSeconds: 17, stallSeconds: 7.4, stallCount: 3 });
});

test('a short stall counts if the element says so, and another element is none', () => {
  const screen = new Screen().pass(1, 0).pass(5).pass(0.4, 0).pass(1);
  expect(screen.figures()).toMatchObject({ stallSeconds: 0, stallCount: 0 });
  screen.waits(0.4).pass(1);
  expect(screen.figures()).toMatchObject({ stallSeconds: 0.4, stallCount: 1, watchedSeconds: 7 });
  const other = { ...screen.element, currentTime: 2 };
  for (let i = 0; i < 6; i++, other.currentTime += 0.1) {
    screen.nowSeconds += 0.1;
    screen.playback.sample(screen.nowSeconds, other);
  }
  expect(screen.figures()).toMatchObject({ stallSeconds: 0.4, watchedSeconds: 7.5 });
});

test('pauses, seeks and the end are no stalls', () => {
  const screen = new Screen().pass(1, 0).pass(5).changes({ paused: true }).pass(60);
  screen.changes({ paused: false }).pass(5).seeks(400, 3).pass(5);
  expect(screen.figures()).toMatchObject({ watchedSeconds: 15, stallSeconds: 0, stallCount: 0 });
  screen.element.currentTime = 600;
  screen.pass(30, 0);
  expect(screen.figures()).toMatchObject({ watchedSeconds: 15, stallSeconds: 0, stallCount: 0 });
  expect(screen.playback.isEnded).toBe(true);
  screen.element.currentTime = 0;
  screen.playback.sample(screen.nowSeconds, screen.element);
  screen.playback.sample(screen.nowSeconds, undefined);
  expect(screen.playback.isEnded).toBe(true);
  screen.pass(1);
  expect(screen.playback.isEnded).toBe(false);
});

test('a seek in a stall does not end it', () => {
  const screen = new Screen().pass(1, 0).pass(5).pass(1, 0);
  screen.seeks(screen.element.currentTime + 0.5, 2).pass(5);
  expect(screen.figures()).toMatchObject({ stallSeconds: 3, stallCount: 1 });
});

test('startup begins with the source, or when the viewer starts what has been ready for a while', () => {
  const unready = () => new Screen().changes({ paused: true, readyState: 1 }).pass(3);
  const autoplay = unready().changes({ paused: false, readyState: 4 }).pass(0.5, 0).pass(1);
  expect(autoplay.figures()).toMatchObject({ startupSeconds: 3.5 });
  const later = unready().changes({ readyState: 4 }).pass(60).changes({ paused: false }).pass(0.2, 0).pass(1);
  expect(later.figures()).toMatchObject({ startupSeconds: 0.2, watchedSeconds: 1 });
});

test('bitrates and switches are those that play, also where a segment replaces another', () => {
  const screen = new Screen();
  const segment = (i: number, mbps: number) =>
    screen.playback.buffered({ startSeconds: 4 * i, endSeconds: 4 * i + 4, bitrateBps: mbps * 1e6 });
  segment(0, 1);
  segment(1, 2);
  segment(1, 4);
  segment(2, 4);
  screen.pass(1, 0).pass(12);
  // Qualities of 10, 40 and 40, and a startup of 1 s; no fall.
  expect(screen.figures().perceivedQoe).toBeCloseTo((90 - PERCEIVED_PRICES.startupSecond) / 3, 1);
  // In units of 4 s: 1 + 4 + 4, less a switch of 3 and a startup of 1 s at 8.
  expect(screen.figures()).toMatchObject({ meanBitrateBps: 3e6, topBitrateBps: 8e6, switches: 1, qoe: -0.7 });
});

test('perceived QoE counts stalls and falls of quality', () => {
  const screen = new Screen();
  screen.playback.buffered({ startSeconds: 0, endSeconds: 40, bitrateBps: 6e6 });
  screen.playback.buffered({ startSeconds: 40, endSeconds: 600, bitrateBps: 2e6 });
  screen.pass(1, 0).pass(20).waits(2).pass(60);
  const stalls = [{ startSeconds: 21, endSeconds: 23 }];
  const seen = { qualities: [60, 60, 20, 20], segmentSeconds: 20, startupSeconds: 1, stalls };
  expect(screen.figures().perceivedQoe).toBeCloseTo(perceivedQoe(seen), 0);
});

test('the first 30 and 60 s are of the media that played', () => {
  const screen = new Screen();
  screen.playback.buffered({ startSeconds: 0, endSeconds: 40, bitrateBps: 2e6 });
  screen.playback.buffered({ startSeconds: 40, endSeconds: 600, bitrateBps: 6e6 });
  screen.pass(3, 0).pass(50).pass(6, 0).pass(100);
  const { qoe, qoeFirst30Seconds, qoeFirst60Seconds } = screen.playback.figures(false, [8], (mbps) => 10 * mbps);
  expect(qoeFirst30Seconds).toBeCloseTo(2 - (8 * 3) / 7.5, 2);
  expect(qoeFirst60Seconds).toBeCloseTo((10 * 2 + 5 * 6 - 4 - 8 * 9) / 15, 2);
  expect(qoe).toBeCloseTo((10 * 2 + 27.5 * 6 - 4 - 8 * 9) / 37.5, 2);
});

test('latency and rates are of live streams alone', () => {
  const screen = new Screen().pass(1, 0).pass(10, 1, 4);
  screen.changes({ playbackRate: 0.5 }).pass(10, 0.5, 3);
  expect(screen.figures(true)).toMatchObject({ latencySeconds: 3.5, offRateShare: 0.5 });
  expect(screen.figures()).not.toHaveProperty('latencySeconds');
  expect(screen.figures()).not.toHaveProperty('offRateShare');
});

test('a device that slept has neither watched nor stalled', () => {
  const screen = new Screen().pass(1, 0).pass(5).changes({ readyState: 2 });
  screen.nowSeconds += 7200;
  screen.pass(0.1, 0).pass(5);
  expect(screen.figures()).toMatchObject({ watchedSeconds: 10, stallSeconds: 0 });
});

const START_MS = 1_700_000_000_000;

/** Downloads without a pause, with bits reported every quarter of a second. */
function downloaded(link: Link, seconds: number, record = new LinkRecord(START_MS)): LinkRecord {
  for (let i = 0; i < seconds * 4; i++) {
    const from = i / 4;
    let bits = 0;
    for (let k = 0; k < 5; k++) bits += link(from + k / 20) / 20;
    record.delivered(from, from + 0.25, bits);
  }
  return record;
}

test('a link with a rhythm of 15 s is told from one without; a short session tells neither', () => {
  expect(downloaded(leoLink({ seed: 3, boundary: 7 }), 180).figures(180, false).rhythm).toBe(true);
  expect(downloaded(noisyLink(3, 0.3), 180).figures(180, false).rhythm).toBe(false);
  expect(downloaded(noisyLink(3, 0.3), 50).figures(50, false)).not.toHaveProperty('rhythm');
});

test('quantiles are those of the seconds with a download', () => {
  const record = new LinkRecord(START_MS);
  for (let second = 0; second < 100; second++) if (second % 2) record.delivered(second, second + 1, second * 1e6);
  const { throughput10Bps, throughput50Bps, throughput90Bps } = record.figures(100, false);
  const mbps = [throughput10Bps, throughput50Bps, throughput90Bps].map((bps) => Math.round(bps! / 1e5) / 10);
  expect(mbps).toEqual([10.8, 50, 89.2]);
  const short = new LinkRecord(START_MS);
  short.delivered(0, 4, 1e6);
  expect(short.figures(4, false)).not.toHaveProperty('throughput50Bps');
});

test('requests beside each other add their bits, and their time once', () => {
  const record = new LinkRecord(START_MS);
  record.delivered(0, 6, 6e6);
  record.delivered(0, 6, 3e6);
  expect(record.figures(6, true)).toMatchObject({ observations: '1500,1500,1500,1500,1500,1500' });
});

test('observations are bounded', () => {
  const { observations } = downloaded(noisyLink(1, 0.2), 600).figures(600, true);
  expect(observations!.length).toBeLessThanOrEqual(2000);
  expect(observations).toMatch(/^\d+(,\d+)+$/);
  expect(observations!.split(',').length).toBeGreaterThan(280);
  expect(downloaded(() => 1e12, 2).figures(2, true).observations).toBe('99999999,99999999');
});

test('the first hour counts', () => {
  const record = new LinkRecord(START_MS);
  for (let second = 3595; second < 3620; second++) record.delivered(second, second + 1, second < 3600 ? 1e6 : 9e6);
  const figures = record.figures(3620, false);
  expect(figures.throughput10Bps! / 1e6).toBeCloseTo(1, 6);
  expect(figures.throughput90Bps! / 1e6).toBeCloseTo(1, 6);
});
