import { expect, test } from '@jest/globals';
import { HOST } from '../host.fixture.ts';
import { writeLines } from './debug.ts';
import type { DecisionEvent, PaceEvent } from './event-types.ts';
import { Events } from './events.ts';

test('a decision and a pace are one line each, with the player and its number', () => {
  const lines: string[] = [];
  const state = { nowSeconds: 12.34, bufferLevelSeconds: 8.06 };
  for (const name of ['dash.js', 'hls.js']) {
    const events = new Events({ logger: null, host: HOST });
    writeLines(events, name, (line) => lines.push(line));
    const chosen = { kind: 'decide', representationId: 'v2', decision: { reason: 'QoE 3.2' } };
    events.emit('decision', { ...chosen, state } as DecisionEvent);
    events.emit('pace', { playbackRate: 0.95, pace: { reason: 'handover ahead' }, state } as PaceEvent);
  }
  expect(lines).toEqual([
    'leo-abr dash.js #1, 12.3 s, buffer 8.1 s: decide v2, QoE 3.2',
    'leo-abr dash.js #1, 12.3 s, buffer 8.1 s: rate 0.95, handover ahead',
    'leo-abr hls.js #2, 12.3 s, buffer 8.1 s: decide v2, QoE 3.2',
    'leo-abr hls.js #2, 12.3 s, buffer 8.1 s: rate 0.95, handover ahead',
  ]);
});
