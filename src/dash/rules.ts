/** The plugin as dash.js sees it: a quality switch rule, and where needed a rule that abandons downloads. */

import type { RulesContext } from 'dashjs';
import type { Adaptation } from '../core/adaptation.ts';
import type { Choice } from '../core/player-port.ts';
import type { DashPort } from './dash-port.ts';

export const SWITCH_RULE = 'LeoAbrRule';
export const ABANDON_RULE = 'LeoAbrAbandonRule';

/** dash.js's DEFAULT: above its throughput rule as the plugin sets it, equal to DroppedFramesRule. */
const PRIORITY = 0.5;

type Rule = (context: RulesContext) => Choice | undefined;

/** Called before a segment's request. Audio and text are left to dash.js. */
export function switchRule(port: DashPort, adaptation: Adaptation) {
  return ruleFactory(SWITCH_RULE, port, adaptation, (context) => {
    if (context.getMediaType() !== 'video') return undefined;
    port.look(context);
    return adaptation.decisions.decide();
  });
}

/** Called at progress events; of use where this dash.js has no other way to abandon a download. */
export function abandonRule(port: DashPort, adaptation: Adaptation) {
  return ruleFactory(ABANDON_RULE, port, adaptation, (context) => {
    const isActive = adaptation.downloads.isActive(context.getCurrentRequest());
    return isActive && !port.canAbandon() ? adaptation.decisions.reconsider() : undefined;
  });
}

/**
 * Makes a rule factory for `addABRCustomRule`. Each time one of dash.js's rules is switched on or off it makes another
 * instance of a custom rule, and keeps the earlier ones, even after the rule's removal: only the newest calls `rule`.
 */
function ruleFactory(name: string, port: DashPort, { life }: Adaptation, rule: Rule) {
  let newest: object;
  return () => ({
    create() {
      const answer = (context: RulesContext) => {
        const opinion = life.guard(() => {
          const choice = instance === newest ? rule(context) : undefined;
          // dash.js silently ignores an abandonment whose reason is no object.
          return choice && { representation: port.representation(choice), reason: { message: choice.message } };
        });
        return { representation: null, priority: PRIORITY, rule: name, ...opinion };
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
