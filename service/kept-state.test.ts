import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { normal, seededRandom } from '../abr/random.ts';
import { eventReader } from './api/sse.fixture.ts';
import type { WireObservation } from './api/wire.ts';
import { KEPT_SECONDS, StateFile } from './kept-state.ts';
import type { LogFields } from './log.ts';
import { ManualClock } from './manual-clock.fixture.ts';
import { PredictionService } from './prediction-service.ts';
import { startService } from './start-service.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-state-'));
});
afterEach(() => rmSync(folder, { recursive: true }));
const path = () => join(folder, 'leo-abr-link.json');

const serviceAt = (clock: ManualClock) => new PredictionService({ clock, version: '0' });

/** Plays for some seconds on a link with epochs. All services get the same reports. */
function play(clock: ManualClock, seconds: number, ...services: PredictionService[]): void {
  for (let second = 0; second < seconds; second++) {
    for (let tenth = 0; tenth < 10; tenth++) {
      clock.advance(0.1);
      for (const service of services) service.tick();
    }
    const utcMs = clock.utcMs();
    const random = seededRandom(Math.round(utcMs / 1000));
    const rateBps = 25e6 * 3 ** seededRandom(Math.floor((utcMs - 12_500) / 15_000))();
    const observations = Array.from({ length: 10 }, (_, i): WireObservation => {
      const endMs = utcMs - (9 - i) * 100;
      return { kind: 'throughput', startMs: endMs - 100, endMs, bits: (rateBps * Math.exp(normal(random) / 8)) / 10 };
    });
    for (const service of services) service.observe({ player: 'p', observations });
  }
}

/** What a new start at this time reads. */
async function read(clock: ManualClock) {
  const service = serviceAt(clock);
  const { problems } = service;
  const lines: string[] = [];
  const add = (_: LogFields, message: string) => void lines.push(message);
  const state = await new StateFile(folder).read({ clock, problems, log: { info: add, warn: add } });
  if (state !== undefined) service.recall(state);
  return { service, state, lines, problems: problems.list().map(({ code, message }) => `${code}: ${message}`) };
}

describe('a start with the state of an earlier one', () => {
  test('forecasts as if the service had never stopped', async () => {
    const clock = new ManualClock();
    const first = serviceAt(clock);
    play(clock, 150, first);
    expect(await new StateFile(folder).write(first.keep(), first.problems)).toBe(true);
    expect(readFileSync(path(), 'utf8').length).toBeLessThan(50_000);
    const { service } = await read(clock);
    expect(service.forecast()).toEqual({
      ...first.forecast(),
      forecast: { ...first.forecast().forecast, quantilesBps: expect.anything(), fluctuation: expect.anything() },
    });
    play(clock, 5, first, service);
    const [one, other] = [first, service].map((each) => each.forecast().forecast!);
    expect(other!.handovers).toHaveLength(3);
    other!.quantilesBps.forEach((row, step) => {
      row.forEach((bps, level) => {
        expect(Math.abs(bps / one!.quantilesBps[step]![level]! - 1)).toBeLessThan(0.05);
      });
    });
  });

  test('knows nothing of the link without it', async () => {
    const { state, problems, lines } = await read(new ManualClock());
    expect({ state, problems, lines }).toEqual({ state: undefined, problems: [], lines: [] });
  });

  test('keeps the newest five minutes of downloading', () => {
    const clock = new ManualClock();
    const service = serviceAt(clock);
    play(clock, 400, service);
    const { throughput } = service.keep();
    expect(throughput[0]!.startSeconds).toBeCloseTo(-301, 0);
    expect(throughput.at(-1)!.endSeconds).toBeCloseTo(-1, 0);
  });

  test('ignores what is older than a quarter of an hour', async () => {
    const clock = new ManualClock();
    const first = serviceAt(clock);
    play(clock, 20, first);
    await new StateFile(folder).write(first.keep(), first.problems);
    clock.advance(KEPT_SECONDS - 10);
    const { service, problems } = await read(clock);
    expect(service.state().link.observedSeconds).toBeCloseTo(9, 0);
    expect(problems).toEqual([]);
    clock.advance(11);
    expect(await read(clock)).toMatchObject({
      state: undefined,
      lines: ['leo-abr-link.json is 15 min old: it is not used'],
    });
    clock.leap(-7200);
    expect((await read(clock)).lines).toEqual(['leo-abr-link.json is from the future: it is not used']);
  });

  test.each([
    ['', 'it is not JSON'],
    ['my diary', 'it is not JSON'],
    ['null', 'format: expected "leo-abr link 1", got undefined'],
    ['{"format":"leo-abr link 2"}', 'format: expected "leo-abr link 1", got "leo-abr link 2"'],
    [
      '{"format":"leo-abr link 1","throughput":[]}',
      'throughput: expected a list with the time of saving, got an empty array',
    ],
    [
      '{"format":"leo-abr link 1","savedMs":1,"throughput":[[-1,0.1,9],[-0.9,0.1]]}',
      'throughput[1]: expected seconds before the time of saving, their number, bits, got an array',
    ],
  ])('reports and ignores %j', async (text, problem) => {
    writeFileSync(path(), text);
    const { state, service, problems } = await read(new ManualClock());
    expect(state).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining(`ignored: leo-abr-link.json: ${problem}`)]);
    await new StateFile(folder).write(service.keep(), service.problems);
    expect(service.problems.list()).toEqual([]);
    expect((await read(new ManualClock())).problems).toEqual([]);
  });

  test('works with a folder that cannot be written, which is a problem until it can', async () => {
    const service = serviceAt(new ManualClock());
    writeFileSync(join(folder, 'taken'), '');
    expect(await new StateFile(join(folder, 'taken')).write(service.keep(), service.problems)).toBe(false);
    expect(service.problems.list()).toMatchObject([
      { part: 'state', code: 'not-written', message: 'leo-abr-link.json: EEXIST' },
    ]);
    // What is left of an interrupted write is replaced.
    writeFileSync(`${path()}.new`, '{"format"');
    expect(await new StateFile(folder).write(service.keep(), service.problems)).toBe(true);
    expect(service.problems.list()).toEqual([]);
    expect(existsSync(`${path()}.new`)).toBe(false);
  });
});

test('a stream goes on after a proper end of the service, once, and is told of a crash', async () => {
  const open = () => startService({ version: '0', port: 0, state: folder });
  const next = async (url: string, id?: string) => {
    const stream = await eventReader(`${url}/v1/events?types=trigger`, id === undefined ? {} : { 'last-event-id': id });
    return { stream, hello: await stream.next() };
  };
  const first = await open();
  const { stream } = await next(first.url);
  first.service.publish('trigger', { n: 1 });
  const { id } = await stream.next();
  await first.close();
  const second = await open();
  try {
    second.service.publish('trigger', { n: 2 });
    expect(await (await next(second.url, id)).stream.next()).toMatchObject({ event: 'trigger', data: { n: 2 } });
    // As after a crash of the second.
    const third = await open();
    expect(await (await next(third.url, id)).stream.next()).toMatchObject({
      event: 'missed',
      data: { reason: 'restarted' },
    });
    await third.close();
  } finally {
    await second.close();
  }
});
