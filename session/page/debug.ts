/** The option `debug`: one line per decision and pace. */

import type { PlayerState } from '../../abr/controller.ts';
import type { Events } from './events.ts';

/** Attachments that have written lines, so that lines of two players on a page can be told apart. */
let writers = 0;

/** Writes with the player's name and number, the session's time and the buffer level. */
export function writeLines(events: Events, playerName: string, print: (line: string) => void): void {
  const label = `leo-abr ${playerName} #${++writers}`;
  const write = ({ nowSeconds, bufferLevelSeconds }: PlayerState, text: string) =>
    print(`${label}, ${nowSeconds.toFixed(1)} s, buffer ${bufferLevelSeconds.toFixed(1)} s: ${text}`);
  events.on('decision', ({ state, kind, representationId, decision }) =>
    write(state, `${kind} ${representationId}, ${decision.reason}`),
  );
  events.on('pace', ({ state, playbackRate, pace }) => write(state, `rate ${playbackRate.toFixed(2)}, ${pace.reason}`));
}
