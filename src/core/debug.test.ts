import { expect, jest, test } from '@jest/globals';
import { writeLines } from './debug.ts';
import { type DecisionEvent, Events, type PaceEvent } from './events.ts';

test('a decision and a pace are one line each, with the player and its number', () => {
  const state = { nowSeconds: 12.34, bufferLevelSeconds: 8.06 };
  const emit = (name: string, debug: true | ((line: string) => void)) => {
    const events = new Events({ logger: null });
    writeLines(events, name, debug);
    const chosen = { kind: 'decide', representationId: 'v2', decision: { reason: 'QoE 3.2' } };
    events.emit('decision', { ...chosen, state } as DecisionEvent);
    events.emit('pace', { playbackRate: 0.95, pace: { reason: 'handover ahead' }, state } as PaceEvent);
    return events.faults.map(({ message }) => message);
  };
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  emit('dash.js', write);
  const console = jest.spyOn(globalThis.console, 'debug').mockImplementation(write);
  emit('hls.js', true);
  console.mockRestore();
  const texts = ['decide v2, QoE 3.2', 'rate 0.95, handover ahead'];
  expect(lines).toEqual(
    ['dash.js #1', 'hls.js #2'].flatMap((name) =>
      texts.map((text) => `leo-abr ${name}, 12.3 s, buffer 8.1 s: ${text}`),
    ),
  );
  const fail = () => {
    throw new Error('broken');
  };
  expect(emit('dash.js', fail)).toEqual(['a listener failed: broken']);
});
