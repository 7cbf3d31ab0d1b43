import { expect, test } from '@jest/globals';
import { ManualClock } from '../manual-clock.fixture.ts';
import { PredictionService } from '../prediction-service.ts';
import * as texts from './texts.js';

const clock = new ManualClock();
const service = new PredictionService({ clock, version: '1.2.3' });
const STATE = service.state();
const NOW_MS = STATE.serverUtcMs;
const DISH = { ...STATE.dish, state: 'online' as const, sinceMs: NOW_MS - 720_000 };
const RATES = { levels: [0.03, 0.1, 0.5, 0.9, 0.97], quantilesBps: [[1e6, 2.5e6, 40e6, 100e6, 900e6]] };
const OTHERS = { stepEndsSeconds: [1], rankCorrelation: 0.5, handovers: [] };
const FORECAST = { issuedAtMs: NOW_MS, source: 'service', ...RATES, ...OTHERS };

test('the headline says what the service sees', () => {
  const link = { ...STATE.link, players: 2 };
  const online = texts.headline({ ...STATE, dish: DISH, link }, 6.2);
  expect(online).toBe('The dish is online. 2 players. Next handover in 7 s.');
  expect(texts.headline(STATE, undefined)).toBe('No dish is configured. No player reports.');
  const gone = { ...STATE, dish: { ...DISH, state: 'unreachable' as const }, link: { ...link, players: 1 } };
  expect(texts.headline(gone, undefined)).toBe('The dish does not answer. 1 player.');
});

test('a service that knows nothing says in each card what to do', () => {
  for (const card of [texts.dishCard(STATE), texts.skyCard(STATE), texts.recordingsCard(STATE)]) {
    expect(card).toMatch(/start the service with --\w+/);
  }
  expect(texts.handoversCard(service.handovers(), undefined, STATE)).toMatch(/^Unknown: /);
  const online = { ...STATE, dish: DISH };
  expect(texts.handoversCard(service.handovers(), undefined, online)).toMatch(/^Unknown, although the dish answers: /);
  expect(texts.linkText(service.forecast(), STATE)).toBe(
    'No forecast: no throughput was observed yet. Forecasts begin when a player reports.',
  );
  expect(texts.playerRows(STATE)).toEqual([]);
  expect(texts.problemTexts(STATE)).toEqual([]);
  expect(texts.aboutText(STATE)).toBe('Version 1.2.3, started 0 s ago');
});

/** The rows of a card, as a line each. */
const linesOf = (card: ReturnType<typeof texts.dishCard>) =>
  (card as (readonly string[])[]).map((row) => row.join(': '));

test('cards show what is known and omit the rest', () => {
  const dish = { ...DISH, latencyMs: 43.4, dropRate: 0, downlinkUsageBps: 12.3e6, uplinkUsageBps: 0.42e6 };
  expect(linesOf(texts.dishCard({ ...STATE, dish }))).toEqual([
    ...['State: online, for 12 min', 'Ping: 43 ms', 'Lost pings: 0 %', 'Download: 12 Mbit/s', 'Upload: 0.4 Mbit/s'],
  ]);
  const shown = (state: 'outage' | 'unreachable', detail: string) =>
    linesOf(texts.dishCard({ ...STATE, dish: { ...DISH, state, detail } }));
  expect(shown('outage', 'no pings')).toEqual(['State: outage (no pings), for 12 min']);
  expect(shown('unreachable', 'no answer')).toEqual(['State: unreachable, for 12 min']);
  const recording = { directory: 'home', lines: 12_345, waiting: 7, lost: 0, deletedFiles: 0 };
  const recorded = ['Folder: home', 'Lines: 12,345', 'Waiting for the disk: 7', 'Old files deleted: 0'];
  expect(linesOf(texts.recordingsCard({ ...STATE, recording }))).toEqual(recorded);
  const inView = [{ name: 'STARLINK-1', elevationDegrees: 61.4, azimuthDegrees: 359 }];
  const sky = linesOf(texts.skyCard({ ...STATE, sky: { state: 'running', satellites: 1, inView } }));
  expect(sky).toEqual(['In view: 1 satellite above 25°', 'STARLINK-1: 61° high, north']);
  const handovers = linesOf(texts.handoversCard(service.handovers(), 3.1, STATE));
  expect(handovers).toEqual(['Next: in 4 s', 'Uncertainty: ± 2.0 s']);
});

test('the last hour is summed up, and says what to do about obstruction', () => {
  const minute = { startMs: 0, observedSeconds: 60, outageSeconds: 0, obstructedSeconds: 0 };
  const of = (...lastHour: (typeof minute)[]) => texts.hourText({ lastHour }, STATE);
  expect(of(minute)).toBe('No outage and no obstruction in 1 observed minute.');
  const outage = of(minute, { ...minute, outageSeconds: 7 });
  expect(outage).toBe('Outages: 7 s. View obstructed: 0 s. Affected: 1 of 2 observed minutes.');
  const obstructed = { ...minute, obstructedSeconds: 3 };
  expect(of(obstructed)).toContain('Something blocks the view');
  const simulated = { ...STATE, dish: { ...DISH, hardware: 'simulated' } };
  expect(texts.hourText({ lastHour: [obstructed] }, simulated)).not.toContain('Something');
  expect([texts.isSimulated(simulated), texts.isSimulated(STATE)]).toEqual([true, false]);
});

test('the link is a median, and what to count on', () => {
  const link = { ...STATE.link, observedSeconds: 340 };
  const reply = { serverUtcMs: NOW_MS, observedSeconds: 340, forecast: FORECAST };
  expect(texts.linkText(reply, { ...STATE, link })).toBe(
    'Expected capacity: 40 Mbit/s. If a call or stream must not stall, count on 2.5 Mbit/s (the risk of less is 10 %). ' +
      'Observed: 5 min of downloads.',
  );
  const three = { ...FORECAST, levels: [0.2, 0.5, 0.8], quantilesBps: [[1e6, 2e6, 3e6]] };
  const text = texts.linkText({ ...reply, forecast: three }, { ...STATE, link });
  expect(text).toContain('count on 1.0 Mbit/s (the risk of less is 20 %)');
});

test('durations have one unit', () => {
  const shown = [-3600, -1, 99.9, 100, 5999, 6000, 172_800].map(texts.duration);
  expect(shown).toEqual(['an unknown time', '0 s', '99 s', '1 min', '99 min', '1 h', '2 days']);
});
