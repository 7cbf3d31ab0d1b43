import { describe, expect, test } from '@jest/globals';
import { createEvents, type DecisionEvent, type FaultEvent } from './events.ts';

const decision = {} as DecisionEvent;
const settled = () => new Promise((resolve) => setTimeout(resolve));

describe('events', () => {
  test('reach their listeners until these have had enough', () => {
    const events = createEvents(null);
    const seen: string[] = [];
    const stopA = events.on('decision', () => seen.push('a'));
    events.on('decision', () => seen.push('b'));
    events.decision(decision);
    stopA();
    stopA();
    events.decision(decision);
    expect(seen).toEqual(['a', 'b', 'b']);
  });

  test('a fault is told once per code, to listener and logger, after the present call', async () => {
    const warnings: string[] = [];
    const events = createEvents({ warn: (text) => warnings.push(text) });
    const cause = new Error('broken');
    events.fault('controller-failed', 'the controller failed', cause);
    events.fault('controller-failed', 'again', cause);
    events.fault('sizes-unusable', 'no sizes');
    const seen: FaultEvent[] = [];
    events.on('fault', (event) => seen.push(event));
    expect(seen).toEqual([]);
    await settled();
    expect(seen).toEqual([
      { code: 'controller-failed', message: 'the controller failed: broken', cause },
      { code: 'sizes-unusable', message: 'no sizes', cause: undefined },
    ]);
    expect(events.faults).toEqual(seen);
    expect(warnings).toEqual(['leo-abr: the controller failed: broken', 'leo-abr: no sizes']);
  });

  test('a listener that throws stops neither the others nor the caller', async () => {
    const events = createEvents(null);
    let heard = 0;
    events.on('decision', () => {
      throw 'oops';
    });
    events.on('decision', () => heard++);
    events.on('fault', () => {
      throw new Error('worse');
    });
    events.decision(decision);
    await settled();
    expect(heard).toBe(1);
    expect(events.faults.map(({ message }) => message)).toEqual(['a listener failed: oops']);
  });
});
