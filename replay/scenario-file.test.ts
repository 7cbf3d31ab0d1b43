import { expect, test } from '@jest/globals';
import { parseScenario, resolveScenario, scenarioNamed } from './scenario-file.ts';
import { assumedLink, MEASURED_BROWSER, SCENARIOS } from './scenarios.ts';

const MINIMAL = { ladderBps: [1e6, 2e6], segmentSeconds: 4, segmentCount: 3, bufferCapSeconds: 12, rttSeconds: 0.05 };

function parse(scenario: unknown) {
  return parseScenario(typeof scenario === 'string' ? scenario : JSON.stringify(scenario), 'folder/mine.json');
}

test('fills in the defaults', () => {
  const defaults = { mu: 2, lambda: 1, payloadShare: 0.95, traceScale: { factor: 1 }, browser: MEASURED_BROWSER };
  expect(parse(MINIMAL)).toMatchObject({ ...MINIMAL, name: 'mine', ...defaults });
  const browser = { ...MEASURED_BROWSER, stallLevelSeconds: 0.5 };
  expect(parse({ ...MINIMAL, browser: { stallLevelSeconds: 0.5 } }).browser).toEqual(browser);
  const assumed = { playerBps: 2e6, browserBps: 0 };
  expect(parse({ ...MINIMAL, assumed: { playerBps: 2e6 } }).assumed).toEqual(assumed);
  expect(assumedLink(scenarioNamed('pensieve-60'))).toEqual({ playerBps: 1e6, browserBps: 2.5e6 });
});

test.each(Object.keys(SCENARIOS))('reads %s as it is written in results', (name) => {
  const resolved = resolveScenario(scenarioNamed(name));
  expect(parse(resolved)).toEqual(resolved);
  expect(parse(SCENARIOS[name])).toEqual(resolved);
});

const QUALITY = {
  ...{ schema: 'leo-abr-quality/1', metric: 'vmaf_v0.6.1', segmentSeconds: 2 },
  representations: {
    high: { bitrateBps: 2e6, bytes: [500, 400, 300], quality: [90, 91, 92] },
    low: { bitrateBps: 1e6, width: 640, height: 360, bytes: [200, 100], quality: [50.5, 60] },
  },
};
const WITH_MEDIA = { media: 'quality.json', bufferCapSeconds: 12, rttSeconds: 0.05 };

test('media has the ladder, sizes and qualities, which are those of the scenario in results, too', () => {
  const read = (name: string) => (name === 'quality.json' ? QUALITY : undefined);
  const media = { ladderBps: [1e6, 2e6], segmentSeconds: 2, segmentCount: 2 };
  const scenario = parseScenario(JSON.stringify(WITH_MEDIA), 'folder/mine.json', read);
  expect(scenario).toMatchObject({ ...media, name: 'mine', mu: 2 });
  expect(JSON.stringify(scenario.segmentSizesBits)).toBe('[[1600,4000],[800,3200]]');
  expect(JSON.stringify(scenario.qualities)).toBe('[[50.5,90],[60,91]]');
  expect(parse(scenario)).toEqual(scenario);
  const one = parseScenario(JSON.stringify({ ...WITH_MEDIA, segmentCount: 1 }), 'mine.json', read);
  expect(one.qualities).toEqual([[50.5, 90]]);
});

test.each([
  [{ ...WITH_MEDIA, ladderBps: [1e6] }, QUALITY, /mine.json: ladderBps: expected none beside media, got an array of 1/],
  [{ ...WITH_MEDIA, segmentCount: 3 }, QUALITY, /segmentCount: expected at most 2, the number of segments with sizes/],
  [WITH_MEDIA, [], /quality.json: expected an object, got an empty array/],
  [WITH_MEDIA, { ...QUALITY, schema: 2 }, /quality.json.schema: expected "leo-abr-quality\/1", got 2/],
  [WITH_MEDIA, { ...QUALITY, metric: 1 }, /quality.json.metric: expected text, got 1/],
  [WITH_MEDIA, { ...QUALITY, segmentSeconds: 0 }, /segmentSeconds: expected seconds > 0, got 0/],
  [WITH_MEDIA, { ...QUALITY, representations: {} }, /representations: expected representations by id/],
])('refuses %j with %j', (scenario, quality, message) => {
  expect(() => parseScenario(JSON.stringify(scenario), 'mine.json', () => quality)).toThrow(message);
});

test.each([
  [{ bitrateBps: '1' }, /representations.low.bitrateBps: expected bit\/s > 0, got "1"/],
  [{ width: -1 }, /low.width: expected a number > 0, got -1/],
  [{ codec: 1 }, /low.codec: expected text, got 1/],
  [{ bytes: [] }, /low.bytes: expected an array that is not empty/],
  [{ bytes: [200, 0] }, /low.bytes\[1\]: expected bytes > 0, got 0/],
  [{ quality: [50] }, /low.quality: expected an array of 2, got an array of 1/],
  [{ quality: [50, 101] }, /low.quality\[1\]: expected a number from 0 to 100, got 101/],
  [{ bitrateBps: 2e6 }, /representations: expected different bitrates, got 2000000 twice/],
])('refuses a representation with %j', (change, message) => {
  const { high, low } = QUALITY.representations;
  const changed = { ...QUALITY, representations: { high, low: { ...low, ...change } } };
  expect(() => parseScenario(JSON.stringify(WITH_MEDIA), 'mine.json', () => changed)).toThrow(message);
});

test.each([
  [{ ...MINIMAL, ladderBps: [2e6, 1e6] }, /mine.json: ladderBps: expected bitrates .* ascending, got an array of 2/],
  [{ ...MINIMAL, ladderBps: [] }, /ladderBps: expected bitrates/],
  [{ ...MINIMAL, ladderBps: [1e6, null] }, /ladderBps\[1\]: expected a number, got null/],
  [{ ...MINIMAL, segmentSeconds: 0 }, /segmentSeconds: expected a number above 0, got 0/],
  [{ ...MINIMAL, segmentCount: 2.5 }, /segmentCount: expected a whole number from 1, got 2.5/],
  [{ ...MINIMAL, bufferCapSeconds: 4.01 }, /bufferCapSeconds: expected more than segmentSeconds \+ browser/],
  [{ ...MINIMAL, bufferCap: 4 }, /bufferCap: expected one of the fields name, ladderBps/],
  [{ ...MINIMAL, browser: { lateness: 4 } }, /browser.lateness: expected one of the fields requestLatenessSeconds/],
  [{ ...MINIMAL, browser: { appendSeconds: '1' } }, /browser.appendSeconds: expected a number from 0, got "1"/],
  [{ ...MINIMAL, traceScale: { factor: 0 } }, /traceScale.factor: expected a number above 0, got 0/],
  [{ ...MINIMAL, payloadShare: 1.2 }, /payloadShare: expected a number above 0 to 1, got 1.2/],
  [
    { ...MINIMAL, lines: [1080] },
    /lines: expected 2 numbers above 0, one per bitrate of the ladder, got an array of 1/,
  ],
  [{ ...MINIMAL, segmentSizesBits: [[1, 2], [1]] }, /segmentSizesBits\[1\]: expected 2 numbers/],
  [{ ...MINIMAL, segmentSizesBits: [[1, 0]] }, /segmentSizesBits\[0\]\[1\]: expected a number above 0, got 0/],
  [{ ...MINIMAL, segmentSizesBits: [[1, 2]] }, /segmentCount: expected at most 1, the number of segments with sizes/],
  [WITH_MEDIA, /media: expected none, because no/],
  [{ ...MINIMAL, qualities: [[1, 101]] }, /qualities\[0\]\[1\]: expected a number from 0 to 100, got 101/],
  [{ ...MINIMAL, qualities: [[1, 2]] }, /segmentCount: expected at most 1, the number of segments with qualities/],
  [[], /folder\/mine.json: expected a JSON object, got an empty array/],
  ['{', /mine.json: expected a JSON object/],
])('refuses %j', (scenario, message) => {
  expect(() => parse(scenario)).toThrow(message);
});

test('an unknown name lists the known ones', () => {
  expect(() => scenarioNamed('uhd-9')).toThrow(
    /--scenario: expected one of uhd-8, .*live-uhd-3, or a .json file, got "uhd-9"/,
  );
  expect(() => scenarioNamed('toString')).toThrow(/expected one of/);
});
