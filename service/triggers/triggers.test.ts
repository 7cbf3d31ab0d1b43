import { expect, test } from '@jest/globals';
import { ManualClock } from '../manual-clock.fixture.ts';
import { startForTest } from '../opened.fixture.ts';
import { BUILT_IN_TRIGGERS, type Metric, parseConfig, type Trigger } from './config.ts';
import { Triggers } from './triggers.ts';

const above50 = { metric: 'latencyMs', comparison: '>', threshold: 50 } as const;
const BASE: Trigger = { name: 'test', ...above50, windowSeconds: 1, holdOffSeconds: 0 };
const LATENCY_SPIKE = BUILT_IN_TRIGGERS.find(({ name }) => name === 'latency-spike')!;

/** Returns the firings for values of the metric, which come once a second from second 1. */
function firings(trigger: Partial<Trigger>, values: readonly (number | undefined)[]) {
  const whole = { ...BASE, ...trigger };
  const engine = new Triggers([whole]);
  return values.flatMap((value, i) =>
    engine
      .observe({ [whole.metric as Metric]: value }, { atSeconds: i + 1, atMs: i })
      .map((fired) => ({ second: i + 1, ...fired })),
  );
}

test('triggers fire when the threshold is passed, with value and threshold', () => {
  const fired = { id: expect.any(String), name: 'test', atMs: 1, metric: 'latencyMs', value: 60, threshold: 50 };
  expect(firings({}, [30, 60, 40])).toEqual([{ second: 2, ...fired, message: 'latencyMs 60 > 50' }]);
});

const calm = new Array<number>(10).fill(20);
/** A threshold of a number of times the mean of the previous windows. */
const ofMean = (times: number, windows: number) => ({ threshold: { times, of: 'mean', windows } as const });
test.each<[string, Partial<Trigger>, (number | undefined)[], number[]]>([
  ['at a threshold with >=', { comparison: '>=' }, [50], [1]],
  ['below a threshold with <', { comparison: '<' }, [50, 49], [2]],
  ['at a threshold with <=', { comparison: '<=' }, [50, 51], [1]],
  ['not before there are enough windows', ofMean(10, 10), [...calm.slice(1), 500, 20], []],
  ['above a multiple of the mean', ofMean(10, 10), [...calm, 201, 20], [11]],
  ['not below this multiple', ofMean(10, 10), [...calm, 199], []],
  ['at a spike of latency, built in', LATENCY_SPIKE, [...calm, 199, 20, 400], [13]],
  ['below a share of the mean', { ...ofMean(0.5, 2), comparison: '<' }, [10, 30, 11, 10], [4]],
  ['above the mean of windows of 2 s', { ...ofMean(2, 2), windowSeconds: 2 }, [10, 10, 10, 10, 10, 40, 40], [6, 7]],
  ['for windows of 3 s', { windowSeconds: 3 }, [90, 90, 0, 0, 0, 90, 90, 60], [3, 7, 8]],
  ['for obstruction', { windowSeconds: 3, metric: 'obstructed', threshold: 0 }, [0, 1, 0, 0, 0, 0], [3, 4]],
  ['again after the hold-off', { holdOffSeconds: 5 }, new Array(12).fill(60), [1, 6, 11]],
  ['not at unknown values', {}, [undefined, Number.NaN, 60], [3]],
])('triggers fire %s', (_, trigger, values, expected) => {
  expect(firings(trigger, values).map(({ second }) => second)).toEqual(expected);
});

/** Starts a service with a trigger, and collects its firings. */
async function firing(trigger: Partial<Trigger>) {
  const clock = new ManualClock();
  const { service } = await startForTest({ clock, config: { triggers: [{ ...BASE, ...trigger }] } });
  const fired: { id: string; atMs: number }[] = [];
  service.listen({ event: (type, data) => type === 'trigger' && fired.push(data as (typeof fired)[number]) });
  return { clock, service, fired };
}

test('the engine counts missing seconds as unknown', () => {
  const engine = new Triggers([{ ...BASE, windowSeconds: 3 }]);
  const at = (atSeconds: number, latencyMs: number) => engine.observe({ latencyMs }, { atSeconds, atMs: 0 }).length;
  const fired = [at(1, 0), at(2, 0), at(3, 0), at(10, 60), at(11.3, 60), at(12.1, 0), at(14, 0)];
  expect(fired).toEqual([0, 0, 0, 1, 1, 0, 0]);
});

test('the service evaluates each second of the dish once, with a unique id per firing', async () => {
  const { clock, service, fired } = await firing({ threshold: 200 });
  const start = clock.utcMs();
  const second = (number: number) => ({ atMs: start + number * 1000, latencyMs: number % 7 === 0 ? 300 : 30 });
  // Seconds before the start of the service do not fire.
  for (let number = -20; number <= 0; number++) service.observeTelemetry({ ...second(number), fromHistory: true });
  expect(fired).toEqual([]);
  for (let number = 1; number <= 140; number++) {
    // Seconds arrive in bursts of four, with jittered times.
    if (number % 4 === 0) clock.advance(4);
    const { atMs, latencyMs } = second(number);
    service.observeTelemetry({ atMs: atMs + (number % 3) * 100, latencyMs });
  }
  const spikes = Array.from({ length: 20 }, (_, i) => 7 * (i + 1));
  expect(fired.map(({ atMs }) => Math.round((atMs - start) / 1000))).toEqual(spikes);
  expect(new Set(fired.map(({ id }) => id)).size).toBe(20);
  for (const { id } of fired) expect(id).toMatch(/^[0-9a-f-]{36}$/);
});

test('the service evaluates each handover when it is due', async () => {
  const { clock, service, fired } = await firing({ metric: 'handover', threshold: 0, holdOffSeconds: 5 });
  for (const seconds of [3.2, 4.1, 0.1, 5]) {
    clock.advance(seconds);
    service.publish('handover', {});
  }
  const end = clock.utcMs();
  expect(fired).toMatchObject([{ atMs: end - 9200 }, { atMs: end }]);
});

test('the config file adds to the built-in triggers or replaces them', () => {
  const threshold = { times: 10, of: 'mean', windows: 10 };
  const own = { name: 'latency', metric: 'latencyMs', comparison: '>', threshold };
  const config = parseConfig(JSON.stringify({ triggers: [own] }), 'c.json');
  expect(config.triggers).toHaveLength(BUILT_IN_TRIGGERS.length);
  expect(config.triggers.at(-1)).toEqual({ ...own, windowSeconds: 1, holdOffSeconds: 15 });
  expect(parseConfig('{"builtIn": false}', 'c.json')).toEqual({ triggers: [] });
  expect(parseConfig('{}', 'c.json').triggers).toEqual(BUILT_IN_TRIGGERS);
});

const mean = { times: 1, of: 'mean', windows: 1 };
const trigger = { name: 'a', metric: 'latencyMs', comparison: '>', threshold: 1 };
test.each<[unknown, string]>([
  [[], 'c.json: expected object, got an empty array'],
  [{ tea: 1 }, 'c.json: tea: expected no such field, got 1'],
  [{ builtIn: 1 }, 'c.json: builtIn: expected boolean, got 1'],
  [{ triggers: {} }, 'c.json: triggers: expected array, got an object'],
  [{ triggers: [{ ...trigger, metric: 'tea' }] }, 'c.json: triggers[0].metric: expected one of latencyMs, '],
  [{ triggers: [{ ...trigger, name: 'a b' }] }, 'c.json: triggers[0].name: expected to match pattern "^[A-Z'],
  [{ triggers: [{ ...trigger, name: undefined }] }, 'triggers[0]: expected to have required properties name, got an'],
  [{ triggers: [{ ...trigger, comparison: '=' }] }, 'comparison: expected one of >, >=, <, <=, got "="'],
  [{ triggers: [{ ...trigger, threshold: null }] }, 'triggers[0].threshold: expected number, got null'],
  [{ triggers: [{ ...trigger, threshold: { ...mean, of: 'tea' } }] }, 'threshold.of: expected one of mean, got "tea"'],
  [{ triggers: [{ ...trigger, windowSeconds: 0.5 }] }, 'triggers[0].windowSeconds: expected integer, got 0.5'],
  [{ triggers: [{ ...trigger, windowSeconds: 0 }] }, 'triggers[0].windowSeconds: expected >= 1, got 0'],
  [{ triggers: [trigger, trigger] }, 'c.json: triggers[1].name: expected a unique name, got "a"'],
  [{ triggers: [{ ...trigger, holdoff: 1 }] }, 'c.json: triggers[0].holdoff: expected no such field, got 1'],
])('the config file rejects %j', (config, message) => {
  expect(() => parseConfig(JSON.stringify(config), 'c.json')).toThrow(message);
});

test('the config file rejects text that is not JSON, and a webhook without quoting it', () => {
  expect(() => parseConfig('{', 'c.json')).toThrow('c.json: expected JSON, got "text that cannot be parsed"');
  const refusal =
    "c.json: webhook: expected no webhook since 0.4.0 (read the service's /v1/events?types=trigger), got one";
  const text = JSON.stringify({ webhook: 'https://hooks.example/secret' });
  expect(() => parseConfig(text, 'c.json')).toThrow(expect.objectContaining({ message: refusal }));
});
