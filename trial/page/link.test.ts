import { expect, test } from '@jest/globals';
import { quantilesOf } from '../../abr/random-states.fixture.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { type Link, leoLink, noisyLink } from '../../predictor/link/handover-clock/links.fixture.ts';
import { LinkRecord } from './link.ts';

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

test('the shares of outcomes below the quantiles of a calibrated forecast are their levels', () => {
  const random = seededRandom(5);
  const record = new LinkRecord(START_MS);
  const levels = [0.05, 0.1, 0.5, 0.9, 0.95];
  for (let second = 0; second < 3500; second++) {
    // Uniform in 0 to 10 Mbit/s.
    const quantilesBps = [levels.map((level) => level * 1e7), levels.map(() => 1)];
    const forecast = quantilesOf(1, { issuedAtMs: 0, stepEndsSeconds: [1, 2], levels, quantilesBps });
    record.expected(forecast, second + 0.5, 0.5);
    record.delivered(second, second + 1, random() * 1e7);
  }
  const { forecasts, below10Share, below50Share, below90Share } = record.figures(3550, false);
  expect(forecasts).toBe(3500);
  for (const [i, share] of [below10Share, below50Share, below90Share].entries()) {
    const level = [0.1, 0.5, 0.9][i]!;
    expect(Math.abs(share! - level)).toBeLessThan(5 * Math.sqrt((level * (1 - level)) / 3500));
  }
});

test('a forecast without a download has no outcome', () => {
  const record = new LinkRecord(START_MS);
  record.expected(quantilesOf(1e6, { issuedAtMs: 0, stepEndsSeconds: [1] }), 0, 0);
  record.delivered(0.6, 5, 1e6);
  expect(record.figures(9, false)).not.toHaveProperty('forecasts');
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
