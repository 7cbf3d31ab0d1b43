import { expect, test } from '@jest/globals';
import { HOST } from '../host.fixture.ts';
import { broken } from '../scripted.fixture.ts';
import type { DecisionEvent, FaultEvent, PaceEvent } from './event-types.ts';
import { Events } from './events.ts';
import { writeLines } from './handle.ts';

const decision = {} as DecisionEvent;
const settled = () => new Promise((resolve) => setTimeout(resolve));

test('events reach their listeners until these unsubscribe', () => {
  const events = new Events({ logger: null, host: HOST });
  const seen: string[] = [];
  const stopA = events.on('decision', () => seen.push('a'));
  events.on('decision', () => seen.push('b'));
  events.on('fault', () => {});
  expect(events.hasPaceListener).toBe(false);
  events.on('pace', () => {});
  expect(events.hasPaceListener).toBe(true);
  events.emit('decision', decision);
  stopA();
  stopA();
  events.emit('decision', decision);
  expect(seen).toEqual(['a', 'b', 'b']);
});

test('an unknown event is refused with the names of the events, and a listener that is no function', () => {
  const events = new Events({ logger: null, host: HOST });
  for (const type of ['decisions', 'toString', undefined] as unknown as 'decision'[]) {
    expect(() => events.on(type, () => {})).toThrow('event: expected decision, pace or fault, got ');
  }
  for (const listener of [5, null, undefined, {}] as unknown as (() => void)[]) {
    expect(() => events.on('decision', listener)).toThrow('listener: expected a function, got ');
  }
  expect(events.hasPaceListener).toBe(false);
});

test('a fault is reported once per code and source, to listener and logger, after the current call', async () => {
  const warnings: string[] = [];
  const events = new Events({ logger: { warn: (text) => warnings.push(text) }, host: HOST });
  const cause = new Error('broken');
  events.fault('controller-failed', 'the controller failed', cause);
  events.fault('controller-failed', 'the controller failed', new Error('again'));
  events.fault('sizes-unusable', 'no sizes');
  events.fault('forecaster-failed', 'the forecaster a failed', cause);
  events.fault('forecaster-failed', 'the forecaster b failed', cause);
  events.fault('forecaster-failed', 'the forecaster a failed');
  const seen: FaultEvent[] = [];
  events.on('fault', (event) => seen.push(event));
  expect(seen).toEqual([]);
  await settled();
  expect(seen).toEqual([
    { code: 'controller-failed', message: 'the controller failed: broken', cause },
    { code: 'sizes-unusable', message: 'no sizes', cause: undefined },
    { code: 'forecaster-failed', message: 'the forecaster a failed: broken', cause },
    { code: 'forecaster-failed', message: 'the forecaster b failed: broken', cause },
  ]);
  expect(events.faults).toEqual(seen);
  expect(warnings.slice(0, 2)).toEqual(['leo-abr: the controller failed: broken', 'leo-abr: no sizes']);
  expect(warnings).toHaveLength(4);
});

test('a listener that throws stops neither the others nor the caller', async () => {
  const events = new Events({ logger: null, host: HOST });
  let heard = 0;
  events.on('decision', () => {
    throw 'oops';
  });
  events.on('decision', () => heard++);
  events.on('fault', broken);
  events.emit('decision', decision);
  await settled();
  expect(heard).toBe(1);
  expect(events.faults.map(({ message }) => message)).toEqual(['a listener failed: oops']);
});

test('neither a logger that throws nor an error without text stops the report of a fault', async () => {
  const events = new Events({ logger: { warn: broken }, host: HOST });
  const seen: string[] = [];
  events.on('fault', ({ message }) => seen.push(message));
  events.fault('controller-failed', 'the controller failed', Symbol('none'));
  events.fault('forecaster-failed', 'the forecaster a failed', Object.create(null));
  await settled();
  expect(seen).toEqual(['the controller failed', 'the forecaster a failed', 'the logger failed: broken']);
});

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
