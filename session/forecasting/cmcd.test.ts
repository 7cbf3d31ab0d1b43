import { expect, test } from '@jest/globals';
import type { Forecast, Forecaster } from '../../abr/forecast.ts';
import { adapted } from '../fake-port.fixture.ts';
import { Scripted, Steady, useManualClock } from '../scripted.fixture.ts';

useManualClock();

const UTC_MS = 1e12;
const URI = 'https://media.example/1.m4s?a=b&CMCD=d%3D4000%2Csid%3D%22x%22#end';

/** A session after its first decision. */
function decided(forecast: Partial<Forecast> | undefined, cmcd = true) {
  const forecaster: Forecaster = new Steady();
  const latest = forecaster.latest.bind(forecaster);
  forecaster.latest = (now) => forecast && ({ ...latest(now), ...forecast } as Forecast);
  const timeSource = { now: () => ({ utcMs: UTC_MS, uncertaintySeconds: 0.1 }) };
  const core = adapted({ controller: new Scripted(), forecasters: [forecaster], timeSource, cmcd });
  core.flow.decide();
  return (...request: Parameters<typeof core.flow.withCmcd>) => core.flow.withCmcd(...request);
}

const cmcdOf = (uri: string) => new URL(uri).searchParams.get('CMCD');
const keysOf = (forecast: Partial<Forecast>) => cmcdOf(decided(forecast)(URI));

test('adds the keys to the query argument, and changes nothing else', () => {
  const uri = decided({})(URI);
  expect(cmcdOf(uri)).toBe('d=4000,leo.abr-cap=6000,leo.abr-src="steady",sid="x"');
  expect(uri.replace(/&CMCD=[^#]*/, '')).toBe('https://media.example/1.m4s?a=b#end');
  expect(decided({})('https://media.example/1.m4s?a=b')).toBe('https://media.example/1.m4s?a=b');
});

test('adds the keys to the header, and only if the player has written it', () => {
  const headers = { 'CMCD-Request': 'bl=4000', 'CMCD-Session': 'sid="x"' };
  decided({})('https://media.example/1.m4s', headers);
  const request = 'bl=4000,leo.abr-cap=6000,leo.abr-src="steady"';
  expect(headers).toEqual({ 'CMCD-Request': request, 'CMCD-Session': 'sid="x"' });
  const others = { range: 'bytes=0-1' };
  decided({})('https://media.example/1.m4s', others);
  expect(others).toEqual({ range: 'bytes=0-1' });
});

test('keeps the alphabetical order, and strings as they are, and adds the keys once', () => {
  const value = 'bl=4000,br=(1000;v),cid="a,z=\\",b é",d=4000,mtp=8200,su';
  const headers = { 'CMCD-Request': value };
  const withKeys = decided({});
  const once = withKeys(`https://media.example/1.m4s?CMCD=${encodeURIComponent(value)}`, headers);
  const [before, after] = value.split(/(?<=d=4000),/);
  const extended = `${before},leo.abr-cap=6000,leo.abr-src="steady",${after}`;
  expect([cmcdOf(once), headers['CMCD-Request']]).toEqual([extended, extended]);
  expect([withKeys(once, headers), headers['CMCD-Request']]).toEqual([once, extended]);
});

test('names the next handover, in seconds from now', () => {
  const handovers = [-15_000, 1250, 16_250].map((ms) => ({ atMs: UTC_MS + ms, confidence: 1 }));
  expect(keysOf({ handovers })).toMatch(/,leo\.abr-ho=1\.3,/);
  expect(keysOf({ handovers: handovers.slice(0, 1) })).not.toContain('ho=');
});

test('takes the level of 10 %, or the next one below it', () => {
  const row = [[1e6, 2e6, 3e6]];
  expect(keysOf({ levels: [0.03, 0.08, 0.5], quantilesBps: row })).toContain('cap=2000,');
  expect(keysOf({ levels: [0.2, 0.5, 0.8], quantilesBps: row })).toContain('cap=1000,');
});

test('names no capacity of paths, and no character that a string may not have', () => {
  const path = { cumulativeBits: (seconds: number) => seconds, downloadSeconds: () => 1 };
  const paths = { kind: 'path' as const, path, source: 'a "q\\ü\n,z' };
  expect(keysOf(paths)).toBe('d=4000,leo.abr-src="a q,z",sid="x"');
});

test('changes nothing without the option, and without a forecast', () => {
  expect(decided({}, false)(URI)).toBe(URI);
  expect(decided(undefined)(URI)).toBe(URI);
});
