import { expect, test } from '@jest/globals';
import { stateOf } from '../../abr/random-states.fixture.ts';
import { decisionRecord } from '../../replay/browser/record/decisions.ts';
import { testResults, testSession } from '../../replay/evaluation/test-sessions.fixture.ts';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { resultRows } from './result-rows.ts';
import { tierComparison } from './tier-comparison.ts';

const at = temporaryFolder('test');
const TRACES = ['a', 'b'];

/** A session with a recorded decision. In this state `throughput` decides on representation 0. */
const line = (representation: number, more: object = {}) => {
  const decision = { representation, controller: 'throughput', reason: '' };
  const event = { kind: 'decide' as const, decision, state: stateOf([1e6, 2e6], { downloads: [] }) };
  const decisions = [decisionRecord({ ...event, inFlight: undefined, forecast: undefined }, 'id')];
  return `${JSON.stringify({ algorithm: 'throughput', seed: 7, record: { decisions }, ...more })}\n`;
};

function files(raw: string) {
  const of = (qoeLinear: number) =>
    testResults(TRACES.map((trace) => testSession({ trace, qoeLinear, algorithm: 'throughput' })));
  put(at('browser.raw.jsonl'), raw);
  return [
    put(at('browser.json'), JSON.stringify(of(10.1))),
    [put(at('simulator.json'), JSON.stringify(of(10)))],
  ] as const;
}

test('counts the decisions that are the same again, and pairs the sessions', () => {
  // A rejected session does not count, and dash.js's own ABR logs no decisions.
  const own = line(0, { algorithm: 'dynamic', record: { decisions: [] } });
  const comparison = tierComparison(...files(line(0) + line(0) + line(1) + line(1, { rejected: 'late' }) + own));
  expect(comparison).toMatchObject({ scenario: 'uhd-8', agreement: [{ decisions: 3, sameAgain: 2, pairs: 2 }] });
  expect(resultRows(comparison)).toMatchObject([
    {
      ...{ scenario: 'uhd-8', algorithm: 'throughput', sessions: 2, decisions: 3 },
      'the same again, %': expect.closeTo(66.67, 2),
      'QoE, browser': expect.closeTo(10.1),
      'QoE, %, difference': [expect.closeTo(1), expect.closeTo(1), expect.closeTo(1)],
    },
  ]);
});

test('names what is wrong with a file', () => {
  const [browser, simulator] = files(`${line(0)}{}\n`);
  expect(() => tierComparison(browser, simulator)).toThrow(/browser\.raw\.jsonl:2: expected a session/);
  const other = testResults([testSession()]);
  const live = put(at('live.json'), JSON.stringify({ ...other, scenario: { ...other.scenario, mu: 1 } }));
  expect(() => tierComparison(browser, [live])).toThrow(/live\.json: expected the scenario of .*browser\.json/);
});
