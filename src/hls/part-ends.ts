/** Mends the switch between the levels of a stream in parts. */

import type Hls from 'hls.js';
import type { BufferAppendingData, Fragment, FragParsedData } from 'hls.js';
import type { Guard } from '../../session/page/events.ts';
import { EMITTER_METHODS, listen } from '../adapter-kit.ts';
import { classOf } from './player.ts';

/**
 * hls.js (1.6.19 and 1.7.4) does not remember where a segment ended that it loaded in parts: it writes `endDTS` for
 * whole segments alone (`updateLevelTiming`). Browsers cut the ends of pictures to microseconds, so the buffer ends up
 * to 1 us before the segment does; hls.js allows for that by `endDTS` (`findFragmentByPTS`). Without it, every switch
 * loads the segment again from its last independent part, and the new key frame removes the rest from the buffer: the
 * player stalls. This writes `endDTS` for parts; returns a function that ends it.
 */
export function keepPartEnds(hls: Hls, guard: Guard): () => void {
  const { Events } = classOf(hls);
  /** What hls.js looks at in its next choice; a later update of the playlist makes another object of the segment. */
  let appended: Fragment | undefined;
  return listen(
    hls,
    EMITTER_METHODS,
    {
      [Events.BUFFER_APPENDING]: ({ frag }: BufferAppendingData) => {
        if (frag.type === 'main') appended = frag;
      },
      [Events.FRAG_PARSED]: ({ frag, part }: FragParsedData) => {
        if (part && appended && frag.type === 'main' && appended.sn === frag.sn) appended.endDTS = part.end;
      },
    },
    guard,
  );
}
