import { expect, test } from '@jest/globals';
import { parseScenario, resolveScenario, scenarioNamed } from './scenario-file.ts';
import { MEASURED_BROWSER, SCENARIOS } from './scenarios.ts';

const MINIMAL = { ladderBps: [1e6, 2e6], segmentSeconds: 4, segmentCount: 3, bufferCapSeconds: 12, rttSeconds: 0.05 };

function parse(scenario: unknown) {
  return parseScenario(typeof scenario === 'string' ? scenario : JSON.stringify(scenario), 'folder/mine.json');
}

test('fills in the defaults', () => {
  const defaults = { mu: 2, lambda: 1, payloadShare: 0.95, traceScale: { factor: 1 }, browser: MEASURED_BROWSER };
  expect(parse(MINIMAL)).toMatchObject({ ...MINIMAL, name: 'mine', ...defaults });
  const browser = { ...MEASURED_BROWSER, stallLevelSeconds: 0.5 };
  expect(parse({ ...MINIMAL, browser: { stallLevelSeconds: 0.5 } }).browser).toEqual(browser);
});

test.each(Object.keys(SCENARIOS))('reads %s as it is written in results', (name) => {
  const resolved = resolveScenario(scenarioNamed(name));
  expect(parse(resolved)).toEqual(resolved);
  expect(parse(SCENARIOS[name])).toEqual(resolved);
});

test('accepts given sizes', () => {
  const segmentSizesBits = [8e6, 4e6].map((bits) => [bits, 2 * bits]);
  const { segmentCount: _, ...open } = MINIMAL;
  expect(parse({ ...open, segmentSizesBits })).toMatchObject({ segmentCount: 2, segmentSizesBits });
});

test.each([
  [
    { ...MINIMAL, ladderBps: [2e6, 1e6] },
    /folder\/mine.json: ladderBps: expected bitrates .* ascending, got an array of 2/,
  ],
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
  [{ ...MINIMAL, segmentSizesBits: [[1, 2], [1]] }, /segmentSizesBits\[1\]: expected 2 sizes/],
  [{ ...MINIMAL, segmentSizesBits: [[1, 0]] }, /segmentSizesBits\[0\]\[1\]: expected a number above 0, got 0/],
  [{ ...MINIMAL, segmentSizesBits: [[1, 2]] }, /segmentCount: expected at most 1, the number of segments with sizes/],
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
