/** Where dash.js asks: the plugin as one of its quality switch rules. */

import type { RulesContext } from 'dashjs';
import type { Flow } from '../../session/flow.ts';
import type { DashPort } from './port.ts';

export const SWITCH_RULE = 'LeoAbrRule';

/** dash.js's DEFAULT: above the throughput rule (see settings.ts), equal to DroppedFramesRule. */
const PRIORITY = 0.5;

/**
 * Makes the rule factory for `addABRCustomRule`. dash.js calls the rule before each segment's request; the rule has no
 * opinion on audio and text. Whenever one of dash.js's own rules is switched on or off, dash.js makes another instance
 * of a custom rule and keeps the earlier ones, even after the rule's removal: only the newest decides.
 */
export function switchRule(flow: (Flow & { readonly port: DashPort }) | undefined) {
  let newest: object;
  const rule = () => ({
    create() {
      const instance = {
        getClassName: () => SWITCH_RULE,
        getSwitchRequest(context: RulesContext) {
          const opinion = flow?.guard(() => {
            if (instance !== newest || context.getMediaType() !== 'video') return undefined;
            const { port, isLoading } = flow!;
            port.asked(context);
            const choice = flow!.decide();
            return choice && { representation: port.switchTo(choice, isLoading), reason: { message: choice.message } };
          });
          return { representation: null, priority: PRIORITY, rule: SWITCH_RULE, ...opinion };
        },
      };
      newest = instance;
      return instance;
    },
  });
  return {
    rule,
    /** dash.js keeps the instances, but nothing of the plugin. */
    release() {
      flow = undefined;
    },
  };
}
