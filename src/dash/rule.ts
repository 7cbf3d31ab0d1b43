/** The plugin as dash.js sees it: a quality switch rule, and where needed a rule that abandons downloads. */

import type { Representation, RulesContext } from 'dashjs';

export const SWITCH_RULE = 'LeoAbrRule';
export const ABANDON_RULE = 'LeoAbrAbandonRule';

/** dash.js's DEFAULT: above its throughput rule as the plugin sets it, level with DroppedFramesRule. */
const PRIORITY = 0.5;

/** A representation with the reason for it; undefined for no opinion. */
export type Opinion = { representation: Representation; message: string } | undefined;

/**
 * Makes a rule factory for `addABRCustomRule`. dash.js makes another instance of a custom rule each time one of its rules
 * is switched on or off, and keeps the ones before, even after the rule's removal: only the newest asks `opinion`.
 */
export function ruleFactory(name: string, opinion: (context: RulesContext) => Opinion) {
  let newest: object;
  return () => ({
    create() {
      const answer = (context: RulesContext) => {
        const mine = instance === newest ? opinion(context) : undefined;
        return {
          representation: mine?.representation ?? null,
          priority: PRIORITY,
          // An object: an abandonment whose reason is anything else is silently ignored.
          reason: mine && { message: mine.message },
          rule: name,
        };
      };
      const instance = {
        getClassName: () => name,
        getSwitchRequest: answer,
        shouldAbandon: answer,
      };
      newest = instance;
      return instance;
    },
  });
}
