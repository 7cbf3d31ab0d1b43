import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import type { Traffic } from '../../service/api/wire.ts';
import { ManualClock } from '../../service/manual-clock.fixture.ts';
import { closedAfterTest } from '../../service/opened.fixture.ts';
import { refused, runListening as run } from '../shared/run.fixture.ts';
import { type ActiveFlags, measureActively } from './active.ts';

const URL_OF_FILE = 'https://files.example/10GB.bin?key=secret';
const files = () => readdirSync(at()).sort();
const used = () => JSON.parse(readFileSync(at('active.json'), 'utf8'));
/** Lets promises run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

interface Open {
  push(bytes: Uint8Array): void;
  end(): void;
  fail(error: Error): void;
  signal: AbortSignal | null;
  headers: Headers;
}

const at = temporaryFolder('test');

/** A service and a file server, with a manual clock. */
class World {
  readonly clock: ManualClock;
  readonly notes: string[] = [];
  readonly events: Open[] = [];
  readonly downloads: Open[] = [];
  isServing = true;
  file: ResponseInit = { status: 200 };
  #ticks: (() => void)[] = [];
  #interrupt = () => {};
  #done: Promise<void> = Promise.resolve();

  constructor(utcMs?: number) {
    this.clock = new ManualClock(utcMs);
  }

  async start(flags: ActiveFlags = {}): Promise<this> {
    closedAfterTest({ close: () => this.stop() });
    const fetch = async (input: string | URL | Request, init: RequestInit = {}) => {
      const isFile = String(input) === URL_OF_FILE;
      if (!isFile && !this.isServing) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
      const opened = isFile ? this.downloads : this.events;
      const signal = init.signal ?? null;
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      const ignored = (done: Promise<void>) => void done.catch(() => {});
      const fail = (error: Error) => ignored(writer.abort(error));
      signal?.addEventListener('abort', () => fail(signal.reason));
      let isOpen = true;
      const push = (bytes: Uint8Array) => isOpen && ignored(writer.write(bytes));
      const end = () => {
        isOpen = false;
        ignored(writer.close());
      };
      opened.push({ push, end, fail, signal, headers: new Headers(init.headers) });
      return new Response(readable, isFile ? this.file : {});
    };
    const interrupted = new Promise<void>((resolve) => {
      this.#interrupt = resolve;
    });
    let begin = () => {};
    const ready = new Promise<void>((resolve) => {
      begin = resolve;
    });
    this.#done = measureActively(
      { active: URL_OF_FILE, seconds: '5', schedule: '3600', ...flags },
      {
        directory: at(),
        clock: this.clock,
        fetch: fetch as typeof globalThis.fetch,
        every: (_, act) => {
          this.#ticks.push(act);
          begin();
          return () => {
            this.#ticks = this.#ticks.filter((tick) => tick !== act);
          };
        },
        interrupted,
        note: (line) => this.notes.push(line),
      },
    );
    await Promise.race([ready, this.#done.catch(() => {})]);
    return this;
  }

  async stop(): Promise<void> {
    this.#interrupt();
    await this.#done;
  }

  async traffic(isWatched: boolean, downlinkUsageBps?: number, uplinkUsageBps = 0): Promise<void> {
    const serverUtcMs = this.clock.utcMs();
    const second = { atMs: serverUtcMs, downlinkUsageBps, uplinkUsageBps };
    const data: Traffic = { serverUtcMs, isWatched, ...(downlinkUsageBps !== undefined && ({ second } as object)) };
    this.events.at(-1)!.push(new TextEncoder().encode(`event: traffic\ndata: ${JSON.stringify(data)}\n\n`));
    await settle();
  }

  /** The download receives 1 MB in each tenth of a second. */
  async pass(seconds: number): Promise<void> {
    for (let tenth = 1; tenth <= Math.round(seconds * 10); tenth++) {
      this.clock.advance(0.1);
      const { isMeasuring } = this;
      if (isMeasuring) this.downloads.at(-1)!.push(new Uint8Array(1e6));
      for (const tick of [...this.#ticks]) tick();
      await settle();
      if (tenth % 10 === 0 && this.isServing) await this.traffic(false, isMeasuring ? 80e6 : 0);
      await settle();
    }
  }

  get isMeasuring(): boolean {
    return this.downloads.at(-1)?.signal?.aborted === false;
  }
}

const SUCCESS = 'expected success without compression, got';

describe('active measurements', () => {
  test('are traces of 0.1 s without the first second', async () => {
    const world = await new World().start();
    await world.pass(10);
    expect(world.downloads[0]!.headers.get('accept-encoding')).toBe('identity');
    expect(world.downloads[0]!.headers.get('cache-control')).toContain('no-cache');
    await world.pass(90);
    await world.stop();
    const [trace, ...others] = readTraces([at()]);
    expect(others).toEqual([]);
    expect(trace!.durationSeconds).toBeCloseTo(3.9);
    expect([...trace!.ratesBps]).toEqual(new Array(39).fill(80e6));
    const startUtcMs = Date.UTC(2026, 0, 1, 12, 0, 11, 100);
    expect(trace!.metadata).toMatchObject({ dataset: 'recorded-active', recordingGroup: 'unknown place 2026-01-01' });
    expect(trace!.metadata).toMatchObject({ startUtcMs, other: { downloaded_bytes: 49e6 } });
    expect(used()).toEqual({ day: '2026-01-01', bytes: 49e6 });
    expect(files()).toEqual(['active-20260101T120011Z.csv', 'active-20260101T120011Z.json', 'active.json']);
    expect(world.notes).toEqual([
      'measuring by downloads from files.example while nobody uses the link, at most 2000 MB a day',
    ]);
  });

  test('abort the download in the turn of the event', async () => {
    const world = await new World().start();
    await world.pass(13);
    const { signal } = world.downloads[0]!;
    const wasAborted: boolean[] = [];
    signal!.addEventListener('abort', () => wasAborted.push(existsSync(at('active-20260101T120011Z.csv'))));
    await world.traffic(true);
    // Before anything else is done, such as writing.
    expect(wasAborted).toEqual([false]);
    await world.stop();
    expect(readTraces([at()])[0]!.durationSeconds).toBeCloseTo(1.9);
  });

  test('give way to other traffic, but not to their own headers and acknowledgements', async () => {
    const world = await new World().start({ seconds: '100' });
    for (const [down, up] of [
      [92e6, 0],
      [80e6, 6e6],
    ] as const) {
      await world.pass(12);
      await world.traffic(false, 88e6, 4e6);
      expect(world.isMeasuring).toBe(true);
      await world.traffic(false, down, up);
      expect(world.isMeasuring).toBe(false);
    }
  });

  test.each([
    ['downlink', [1.2e6, 0]],
    ['uplink', [0, 1.2e6]],
  ] as const)('wait for 10 s after traffic in the %s, and without news', async (_, [down, up]) => {
    const world = await new World().start();
    await world.pass(9);
    await world.traffic(false, down, up);
    await world.pass(9.9);
    expect(world.downloads).toHaveLength(0);
    await world.pass(0.1);
    expect(world.downloads).toHaveLength(1);
    // The event of each whole second comes after the ticks.
    for (let part = 0; part < 45; part++) await world.pass(0.1);
    expect(world.isMeasuring).toBe(false);
    expect(used().bytes).toBeLessThan(45e6);
  });

  test('repeat a scheduled one that gave way, and keep to the period', async () => {
    const world = await new World().start({ schedule: '60' });
    await world.pass(12);
    expect(world.downloads).toHaveLength(1);
    await world.traffic(true);
    expect(world.isMeasuring).toBe(false);
    await world.pass(30);
    expect(world.downloads).toHaveLength(2);
    await world.pass(39);
    expect(world.downloads).toHaveLength(2);
    await world.pass(2);
    expect(world.downloads).toHaveLength(3);
  });

  test('keep to the budget after a restart, also after a crash, until the next day', async () => {
    const world = await new World().start({ budgetMbPerDay: '60' });
    await world.pass(10);
    // As a crash would leave it.
    expect(used()).toEqual({ day: '2026-01-01', bytes: 60e6 });
    await world.pass(6);
    await world.stop();
    expect(used().bytes).toBe(49e6);

    writeFileSync(at('active.json'), '{"day":"2026-01-01","bytes":59e6}');
    const again = await new World().start({ budgetMbPerDay: '60' });
    await again.pass(14);
    await again.stop();
    expect(used().bytes).toBe(60e6);
    expect(again.downloads).toHaveLength(1);

    const late = new World(Date.UTC(2026, 0, 1, 23, 59, 40));
    const last = await late.start({ budgetMbPerDay: '60', schedule: '5' });
    await last.pass(19);
    expect(last.downloads).toHaveLength(0);
    await last.pass(2);
    expect(last.downloads).toHaveLength(1);
  });

  test.each<[string, ResponseInit, string]>([
    ['an error', { status: 404 }, `${SUCCESS} status 404, identity`],
    ['compressed', { headers: { 'content-encoding': 'gzip' } }, `${SUCCESS} status 200, gzip`],
    ['complete', {}, 'expected a download that lasts for a whole measurement'],
  ])('report a response that is %s, and keep what is known', async (what, file, message) => {
    const world = await new World().start();
    world.file = file;
    await world.pass(10);
    if (what === 'complete') {
      await world.pass(3);
      world.downloads[0]!.end();
    }
    await settle();
    expect(world.notes.slice(1)).toEqual([`files.example: ${message}`]);
    await world.stop();
    expect(readdirSync(at()).filter((name) => name.endsWith('.csv'))).toHaveLength(what === 'complete' ? 1 : 0);
    expect(used().bytes).toBe(what === 'complete' ? 30e6 : 0);
  });

  test('report a fault of the network once, and go on', async () => {
    const world = await new World().start({ schedule: '20' });
    await world.pass(10);
    for (let i = 0; i < 3; i++) {
      world.downloads[i]!.fail(new TypeError('terminated', { cause: { code: 'ECONNRESET' } }));
      await settle();
      await world.pass(20);
    }
    expect(world.downloads).toHaveLength(4);
    expect(world.notes.slice(1)).toEqual(['files.example: terminated: ECONNRESET']);
  });

  test('end when the service is lost, each reason of which is reported once, and resume when it is back', async () => {
    const world = await new World().start();
    await world.pass(13);
    world.isServing = false;
    world.events[0]!.end();
    await settle();
    expect(world.downloads[0]!.signal!.aborted).toBe(true);
    await world.pass(100);
    const reasons = ['the event stream has ended', 'fetch failed: ECONNREFUSED'];
    expect(world.notes.slice(1)).toEqual(reasons.map((why) => `nothing is measured until the service is back: ${why}`));
    world.isServing = true;
    await world.pass(15);
    expect(world.events).toHaveLength(2);
    expect(world.downloads).toHaveLength(2);
  });

  test('reconnect to a silent service', async () => {
    const world = await new World().start();
    for (let second = 0; second < 130; second++) {
      await world.pass(0.5);
      await world.traffic(false, 0);
    }
    expect(world.events).toHaveLength(1);
    for (let tenth = 0; tenth < 430; tenth++) await world.pass(0.1);
    expect(world.events[0]!.signal!.aborted).toBe(true);
    expect(world.events).toHaveLength(2);
    expect(world.notes.at(-1)).toBe('nothing is measured until the service is back: no usage of a dish for 40 s');
  });
});

test.each<[string[], string]>([
  [['--active', 'ftp://x/y'], '--active: expected an http or https address without name and password'],
  [['--active', 'https://me:secret@x/y'], '--active: expected an http or https address without name and password'],
  [['--service', 'nowhere'], '--service: expected an http or https address'],
  [['--schedule', '0'], '--schedule: expected a number above 0, got "0"'],
  [['--seconds', '-1'], '--seconds: expected a number above 0, got "-1"'],
  [['--budget-mb-per-day', 'x'], '--budget-mb-per-day: expected a number above 0, got "x"'],
  [['--token-file', 'nowhere'], '--token-file: expected a readable file'],
  [['--budget-mb-per-day', '5'], '--budget-mb-per-day: expected --active as well'],
  [['--from', '.'], "'--active <url>' cannot be used with option '--from <path...>'"],
])('trace record --active refuses %j and writes nothing', async (flags, message) => {
  const isWhole = flags[0] === '--active' || message.endsWith('as well');
  const args = isWhole ? flags : ['--active', 'http://127.0.0.1:1/', ...flags];
  const out = at('mine');
  expect(await refused(run(['trace', 'record', '--out', out, ...args]), message)).not.toContain('secret');
  expect(existsSync(out)).toBe(false);
});
