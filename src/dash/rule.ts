/** The plugin as dash.js sees it: a quality switch rule, and where needed a rule that abandons downloads. */

import type { Representation, RulesContext } from 'dashjs';

export const RULE_NAME = 'LeoAbrRule';
export const ABANDON_RULE_NAME = 'LeoAbrAbandonRule';

/** dash.js's DEFAULT: above our weak throughput rule, level with DroppedFramesRule, below nothing of the page's. */
const PRIORITY = 0.5;

interface Answer {
  representation: Representation | null;
  priority: number;
  reason: { message: string } | null;
  rule: string;
}

/** A representation with the reason for it; undefined for no opinion. */
export type Opinion = { representation: Representation; message: string } | undefined;

/**
 * Makes a rule factory for `addABRCustomRule`. dash.js makes another instance of a custom rule each time one of its rules
 * is switched on or off, and keeps the ones before: only the newest asks `opinion`, and none after `retire`.
 */
export function ruleFactory(name: string, opinion: (context: RulesContext) => Opinion) {
  let newest: object | undefined;
  const answer = (instance: object, context: RulesContext): Answer => {
    const opinionOrNot = instance === newest ? opinion(context) : undefined;
    return {
      representation: opinionOrNot?.representation ?? null,
      priority: PRIORITY,
      // An object: an abandonment whose reason is anything else is silently ignored.
      reason: opinionOrNot === undefined ? null : { message: opinionOrNot.message },
      rule: name,
    };
  };
  const factory = () => ({
    create: () => {
      const instance = {
        getClassName: () => name,
        getSwitchRequest: (context: RulesContext) => answer(instance, context),
        shouldAbandon: (context: RulesContext) => answer(instance, context),
        reset() {},
        handleNewMediaInfo() {},
        clearDataForStream() {},
      };
      newest = instance;
      return instance;
    },
  });
  const retire = () => {
    newest = undefined;
  };
  return { factory, retire };
}
