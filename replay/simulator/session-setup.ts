/** What many sessions share: a trace's link in a scenario, and the sizes of a scenario's segments. Made once each. */

import type { PiecewisePath, ResponseTime } from '../../abr/index.ts';
import type { ResolvedScenario } from '../results.ts';
import { type Scenario, segmentSizesBits, traceScaleOf } from '../scenarios.ts';
import { linkPath, meanRateBps, type Trace } from '../trace.ts';

/** Rows of sizes that a player is shown ahead of the segment to decide on (that one included). */
export const UPCOMING_SEGMENTS = 8;

interface Sizes {
  bySegment: readonly (readonly number[])[];
  /** By the number of segments in the session, then by segment: the rows that a player is shown. */
  upcoming: Map<number, readonly (readonly (readonly number[])[])[]>;
}

const links = new WeakMap<Trace, Map<string, PiecewisePath>>();
const sizes = new WeakMap<Scenario, Sizes>();

/**
 * The trace as the scenario's link: rates times scale and payload share, one RTT per request, from the trace's second
 * 0, endless. Throws a RangeError for a trace that delivers nothing.
 */
export function linkOf(trace: Trace, scenario: Scenario): PiecewisePath {
  return cachedLink(trace, scenario, undefined);
}

/** `linkOf` as a page meets it: with what the browser takes for each response. */
export function pageLinkOf(trace: Trace, scenario: Scenario): PiecewisePath {
  const { responseSeconds, responseSecondsPerBit } = scenario.browser;
  return cachedLink(trace, scenario, { seconds: responseSeconds, secondsPerBit: responseSecondsPerBit });
}

function cachedLink(trace: Trace, scenario: Scenario, response: ResponseTime | undefined): PiecewisePath {
  let ofTrace = links.get(trace);
  if (ofTrace === undefined) {
    ofTrace = new Map();
    links.set(trace, ofTrace);
  }
  const key = JSON.stringify([scenario.traceScale, scenario.payloadShare, scenario.rttSeconds, response]);
  let link = ofTrace.get(key);
  if (link === undefined) {
    const meanBps = meanRateBps(trace);
    if (!(meanBps > 0)) {
      throw new RangeError(`trace ${trace.name}: expected a rate above 0 somewhere, got a mean of ${meanBps} bit/s`);
    }
    link = linkPath(trace, traceScaleOf(scenario, meanBps) * scenario.payloadShare, scenario.rttSeconds, response);
    ofTrace.set(key, link);
  }
  return link;
}

/** Sizes in bits, `[segment][representation]`: the scenario's own where it holds them, else seeded ones. */
export function sizesOf(scenario: Scenario | ResolvedScenario): readonly (readonly number[])[] {
  return preparedSizes(scenario).bySegment;
}

/** `[segment]`: the sizes of that segment and of those after it, at most `UPCOMING_SEGMENTS`, within the session. */
export function upcomingSizesOf(
  scenario: Scenario | ResolvedScenario,
  segmentCount: number,
): readonly (readonly (readonly number[])[])[] {
  const { bySegment, upcoming } = preparedSizes(scenario);
  let rows = upcoming.get(segmentCount);
  if (rows === undefined) {
    rows = Array.from({ length: segmentCount }, (_, segment) =>
      bySegment.slice(segment, Math.min(segment + UPCOMING_SEGMENTS, segmentCount)),
    );
    upcoming.set(segmentCount, rows);
  }
  return rows;
}

function preparedSizes(scenario: Scenario | ResolvedScenario): Sizes {
  let prepared = sizes.get(scenario);
  if (prepared === undefined) {
    const own = 'segmentSizesBits' in scenario ? scenario.segmentSizesBits : undefined;
    prepared = { bySegment: own ?? segmentSizesBits(scenario), upcoming: new Map() };
    sizes.set(scenario, prepared);
  }
  return prepared;
}
