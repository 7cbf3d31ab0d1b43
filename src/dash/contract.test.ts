/**
 * The contract of a custom rule, by dash.js's guide (ABR, "Writing a custom rule") and by `ABRRulesCollection`, the only
 * caller: all that dash.js calls, and what it reads of the answer.
 */

import { expect, test } from '@jest/globals';
import { Scripted, useManualClock } from '../../session/scripted.fixture.ts';
import { attached } from './fake-player.fixture.ts';

useManualClock();

test('the rule is one of those for switches; of any number of instances, one has an opinion, on video alone', () => {
  const { player } = attached({ controller: new Scripted() });
  const { type, rulename, rule } = player.rules[0]!;
  expect([type, rulename]).toEqual(['qualitySwitchRules', 'LeoAbrRule']);
  const instances = Array.from({ length: 5 }, () => rule({}).create());
  // dash.js compares it with the names of its own rules.
  expect(instances.map((one) => one.getClassName())).toEqual(Array(5).fill('LeoAbrRule'));
  const answers = instances.map((one) => one.getSwitchRequest(player.rulesContext()).representation);
  expect(answers.map((answer) => answer?.id)).toEqual([undefined, undefined, undefined, undefined, 'v0']);
  for (const media of ['video', 'audio', 'text', 'image', 'muxed']) {
    const opinion = { representation: { id: 'v0' }, reason: { message: expect.any(String) } };
    // `representation` null is NO_CHANGE, and 0.5 is DEFAULT of `SwitchRequest.PRIORITY`.
    const answer = { ...(media === 'video' ? opinion : { representation: null }), priority: 0.5, rule: 'LeoAbrRule' };
    expect(instances[4]!.getSwitchRequest(player.rulesContext(media))).toMatchObject(answer);
  }
});
