/**
 * The rebuilt rules in the states of sessions that dash.js 5.2.1 played in Chromium: would they have chosen the same?
 * `fixtures/dash-js-sessions.json` has the requests of 10 recordings, two sessions each, by
 *
 *     npx --no leo-abr bench --scenario dash-rules --algorithms dynamic,bola-e --late-share 0.2 ...
 *
 * A request: index, representation, received bits, second of the request, duration, latency, buffer level at the
 * request, and 1 if it was abandoned.
 */

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Download } from '../../abr/controller.ts';
import { stateOf } from '../../abr/random-states.fixture.ts';
import { createBolaE, createDynamic } from '../rivals/dash-js/dash-rules.ts';
import { scenarioNamed } from '../scenario-file.ts';

interface BrowserSession {
  algorithm: string;
  trace: string;
  requests: [number, number, number, number, number, number, number, number][];
}

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const { ladderBps, segmentSeconds, bufferCapSeconds } = scenarioNamed('dash-rules');
const sessions: BrowserSession[] = JSON.parse(read('fixtures/dash-js-sessions.json'));

/** For each segment after the first: dash.js's choice and the controller's. */
function choicesIn({ algorithm, requests }: BrowserSession): [number, number][] {
  const controller = algorithm === 'dynamic' ? createDynamic() : createBolaE();
  const downloads: Download[] = [];
  const choices: [number, number][] = [];
  for (const [segmentIndex, representation, receivedBits, atSeconds, seconds, latency, level, abandoned] of requests) {
    const isFirstAttempt = downloads.at(-1)?.segmentIndex !== segmentIndex;
    if (isFirstAttempt && segmentIndex > 0) {
      const player = { bufferLevelSeconds: level, bufferCapSeconds, segmentSeconds };
      const changes = { ...player, nowSeconds: atSeconds, segmentIndex };
      choices.push([representation, controller.decide(stateOf(ladderBps, { ...changes, downloads })).representation]);
    }
    downloads.push({
      ...{ segmentIndex, bitrateBps: ladderBps[representation]!, receivedBits, sizeBits: receivedBits },
      ...{ requestedAtSeconds: atSeconds, downloadSeconds: seconds, latencySeconds: latency },
      abandoned: abandoned === 1,
    });
  }
  return choices;
}

test.each(['dynamic', 'bola-e'])('%s chooses as dash.js did', (algorithm) => {
  const choices = sessions.filter((session) => session.algorithm === algorithm).flatMap(choicesIn);
  const same = choices.filter(([theirs, ours]) => theirs === ours).length;
  expect(choices).toHaveLength(273);
  expect(same / choices.length).toBeGreaterThanOrEqual(0.99);
});
