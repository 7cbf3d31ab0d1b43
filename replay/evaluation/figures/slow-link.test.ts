import { expect, test } from '@jest/globals';
import type { SessionResult } from '../../results.ts';
import { SCENARIOS } from '../../scenarios.ts';
import type { Trace } from '../../trace.ts';
import { testSession } from '../test-sessions.fixture.ts';
import { withSlowLink } from './slow-link.ts';

/** 1 Mbit/s for two minutes, then 20. */
const trace: Trace = {
  ...{ name: 'rising', durationSeconds: 300, metadata: { dataset: 'set', recordingGroup: 'group' } },
  ...{ stepEndsSeconds: Float64Array.of(120, 300), ratesBps: Float64Array.of(1e6, 20e6) },
};
const scenario = { ...SCENARIOS['uhd-8']!, payloadShare: 0.5 };
const household = { name: 'two', algorithm: 'mpc-d', player: 1, joinSeconds: 100, linkUtilisation: 1 };

test.each<[string, Partial<SessionResult>, number, object, number | undefined]>([
  ['payload of the link, over the seconds of the media', {}, 30, {}, 0.5e6],
  ['the same with media that is played faster', {}, 60, { playbackRate: 2 }, 0.5e6],
  ['not of a link that is faster over the whole session', {}, 48, {}, undefined],
  ['from the start of the session', { startSeconds: 100 }, 12, {}, undefined],
  ['from the join of a player', { household }, 12, {}, undefined],
  ['past the end, where the trace begins again', { startSeconds: 300 }, 12, {}, 0.5e6],
  ['of scaled rates', {}, 30, { traceScale: { factor: 0.25 } }, 0.125e6],
  ['of rates scaled to a mean', {}, 30, { traceScale: { meanBps: 12.4e7 } }, undefined],
])('%s', (_, session, segmentCount, change, expected) => {
  const seen = withSlowLink(testSession({ ...session, slowLinkBps: 7 }), { trace, segmentCount }, {
    ...scenario,
    ...change,
  } as typeof scenario);
  if (expected === undefined) expect(seen).not.toHaveProperty('slowLinkBps');
  else expect(seen.slowLinkBps).toBeCloseTo(expected, 3);
});
