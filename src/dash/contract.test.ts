/**
 * The contract of a custom rule, by dash.js's guide (ABR, "Writing a custom rule") and by `ABRRulesCollection`, the only
 * caller: all that dash.js calls, and what it reads of the answer.
 */

import { expect, test } from '@jest/globals';
import { Scripted, useManualClock } from '../../session/scripted.fixture.ts';
import { attached } from './fake-player.fixture.ts';

useManualClock();

/** `SwitchRequest.PRIORITY` of dash.js 5. */
const PRIORITIES = [0, 0.5, 1];

const made = () => {
  const seen = attached({ controller: new Scripted() });
  const { type, rulename, rule } = seen.player.rules[0]!;
  return { ...seen, type, rulename, rule };
};

test('the rule is one of those for switches, made by a factory without arguments of its own', () => {
  const { type, rulename, rule } = made();
  expect([type, rulename]).toEqual(['qualitySwitchRules', 'LeoAbrRule']);
  // dash.js compares `getClassName()` with the names of its own rules.
  expect((rule({}).create() as unknown as { getClassName(): string }).getClassName()).toBe('LeoAbrRule');
});

test('dash.js makes any number of instances, and one of them has an opinion', () => {
  const { player, rule } = made();
  const instances = Array.from({ length: 5 }, () => rule({}).create());
  const answers = instances.map((one) => one.getSwitchRequest(player.rulesContext()).representation);
  expect(answers.map((answer) => answer?.id)).toEqual([undefined, undefined, undefined, undefined, 'v0']);
});

test.each(['video', 'audio', 'text', 'image', 'muxed'])('the rule answers with a switch request for %s', (type) => {
  const { player } = made();
  const answer = player.instances.at(-1)!.getSwitchRequest(player.rulesContext(type)) as unknown as object;
  // `representation` null is NO_CHANGE.
  expect(answer).toMatchObject({ representation: type === 'video' ? { id: 'v0' } : null, rule: 'LeoAbrRule' });
  expect(PRIORITIES).toContain((answer as { priority: number }).priority);
  if (type === 'video') expect(answer).toMatchObject({ reason: { message: expect.any(String) } });
});
