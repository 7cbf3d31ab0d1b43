/** The simulator against the browser on the same sessions, and what the browser adds, measured. */

import { meanWithInterval } from '../../evaluation/mean-interval.ts';
import { quantile } from '../../evaluation/quantiles.ts';
import { FEWEST_GROUPS } from '../../evaluation/resampling-units.ts';
import { InputError, quoted } from '../../formats/input-error.ts';
import type { Estimate, ResolvedScenario, SessionResult } from '../../results.ts';
import { simulatedAlgorithm } from '../../simulator/algorithms.ts';
import { pageLinkOf } from '../../simulator/session-setup.ts';
import type { Trace } from '../../trace.ts';
import { responseSeconds } from '../lateness.ts';
import { type Agreement, decideAgain } from './decide-again.ts';
import type { RawSession } from './raw-sessions.ts';

export interface AlgorithmComparison {
  algorithm: string;
  sessions: number;
  /** (i) States of the browser, decided again. */
  again: Agreement;
  /** (ii) Download times: browser over simulator, less 1, at the browser's own requests. */
  downloads: { count: number; median: number; p95: number; withinThreePercent: number };
  /** The same against what the origin prescribes: without the browser's time for a response. */
  downloadsByTrace: { median: number; p95: number };
  /** (iii) Free-running: share of segments with the same representation. */
  sameRepresentation: Estimate;
  /** Browser minus simulator, means over sessions. */
  qoeDiff: Estimate;
  /** As shares of the simulator's mean, and of the top bitrate's QoE. */
  qoeDiffOfMean: number;
  qoeDiffOfTop: number;
  stallDiffSeconds: Estimate;
  startupDiffSeconds: number;
  browser: { qoe: number; stallSeconds: number };
  simulator: { qoe: number; stallSeconds: number };
  /** Sessions with something on which rule, requests and element do not agree. */
  inconsistentSessions: number;
}

/** What to set in `BrowserModel`: medians (or means where the simulator adds up), with the spread. */
export interface BrowserMeasurement {
  /** Requests that waited for room: how long after there was room. */
  requestLatenessSeconds: Spread;
  /** From the last byte to the next request where there was room. */
  nextRequestSeconds: Spread;
  /** From the last byte of the segment that was waited for to the playhead's moving on. */
  resumeSeconds: Spread;
  /** Buffer left when the playhead stopped. */
  stallLevelSeconds: Spread;
  /** Download less the trace's time, less what the scenario's browser takes for the response. */
  responseResidualSeconds: Spread;
}

export interface Spread {
  count: number;
  mean: number;
  p5: number;
  median: number;
  p95: number;
}

export interface ComparisonOptions {
  sessions: readonly RawSession[];
  scenario: ResolvedScenario;
  traces: readonly Trace[];
  seed: number;
}

/** One row per algorithm, in order of appearance. Sessions that were rejected or broken off are left out. */
export function compareWithSimulator({ sessions, scenario, traces, seed }: ComparisonOptions): AlgorithmComparison[] {
  const byAlgorithm = new Map<string, RawSession[]>();
  for (const session of accepted(sessions)) {
    byAlgorithm.set(session.algorithm, [...(byAlgorithm.get(session.algorithm) ?? []), session]);
  }
  return [...byAlgorithm].map(([algorithm, own]) => {
    const pairs = own.map((session) => {
      const trace = traceOf(session, traces);
      const { startSeconds, segmentCount, seed: sessionSeed } = session;
      const task = { trace, scenario, startSeconds, segmentCount, seed: sessionSeed, timings: false };
      return {
        session,
        again: decideAgain(session, scenario, trace),
        simulated: simulatedAlgorithm(algorithm).simulate(task),
      };
    });
    const unitOf = unitsOf(own);
    const unitCount = Math.max(...unitOf) + 1;
    const interval = (values: readonly number[]) => meanWithInterval(values, { unitOf, unitCount, seed });
    const simulated = pairs.map((pair) => pair.simulated);
    const browser = own.map(({ result }) => result);
    const qoeDiff = interval(browser.map((result, i) => result.qoe.linear - simulated[i]!.qoe.linear));
    const simulatorQoe = mean(simulated.map(({ qoe }) => qoe.linear));
    const topQoe = scenario.ladderBps.at(-1)! / 1e6;
    const timings = own.flatMap((session) => session.timings);
    const errors = own.flatMap((session) => {
      const link = pageLinkOf(traceOf(session, traces), scenario).from(session.startSeconds);
      return session.timings.map(
        ({ measuredSeconds, requestedAtSeconds, sizeBits }) =>
          measuredSeconds / link.downloadSeconds(requestedAtSeconds, sizeBits) - 1,
      );
    });
    const errorsByTrace = timings.map(
      ({ measuredSeconds, prescribedSeconds }) => measuredSeconds / prescribedSeconds - 1,
    );
    return {
      algorithm,
      sessions: own.length,
      again: {
        decisions: pairs.reduce((sum, { again }) => sum + again.decisions, 0),
        same: pairs.reduce((sum, { again }) => sum + again.same, 0),
      },
      downloads: {
        count: timings.length,
        median: at(errors, 0.5),
        p95: at(errors.map(Math.abs), 0.95),
        withinThreePercent: errors.filter((error) => Math.abs(error) <= 0.03).length / errors.length,
      },
      downloadsByTrace: { median: at(errorsByTrace, 0.5), p95: at(errorsByTrace.map(Math.abs), 0.95) },
      sameRepresentation: interval(pairs.map(({ session, simulated: other }) => sameShare(session.result, other))),
      qoeDiff,
      qoeDiffOfMean: qoeDiff.value / simulatorQoe,
      qoeDiffOfTop: qoeDiff.value / topQoe,
      stallDiffSeconds: interval(browser.map((result, i) => result.stallSeconds - simulated[i]!.stallSeconds)),
      startupDiffSeconds: mean(browser.map((result, i) => result.startupSeconds - simulated[i]!.startupSeconds)),
      browser: {
        qoe: mean(browser.map(({ qoe }) => qoe.linear)),
        stallSeconds: mean(browser.map((r) => r.stallSeconds)),
      },
      simulator: { qoe: simulatorQoe, stallSeconds: mean(simulated.map((result) => result.stallSeconds)) },
      inconsistentSessions: own.filter(({ inconsistencies }) => inconsistencies.length > 0).length,
    };
  });
}

/** What the browser added in these sessions. */
export function measureBrowser(sessions: readonly RawSession[], scenario: ResolvedScenario): BrowserMeasurement {
  const { segmentSeconds, bufferCapSeconds } = scenario;
  const lateness: number[] = [];
  const gaps: number[] = [];
  const resumes: number[] = [];
  const levels: number[] = [];
  const residuals: number[] = [];
  for (const { record, timings, originLog } of accepted(sessions)) {
    const inits = originLog
      .filter(({ kind }) => kind !== 'segment')
      .map(({ requestedAtSeconds }) => requestedAtSeconds);
    const complete = record.requests.filter(({ outcome }) => outcome === 'complete');
    for (let i = 1; i < complete.length; i++) {
      const [before, request] = [complete[i - 1]!, complete[i]!];
      // An initialisation segment in between takes its own time.
      if (inits.some((at) => at > before.endedAtSeconds - 0.05 && at < request.requestedAtSeconds)) continue;
      const waited = request.requestedAtSeconds - before.endedAtSeconds;
      const late = bufferCapSeconds - segmentSeconds - request.bufferLevelSeconds;
      // The level fell while it waited; a wait longer than that lateness was one for room.
      if (waited > late + 0.05) lateness.push(late);
      else gaps.push(waited);
    }
    for (const stall of record.stalls) {
      const came = complete.filter(({ endedAtSeconds }) => endedAtSeconds <= stall.endSeconds).at(-1);
      if (came !== undefined) resumes.push(stall.endSeconds - came.endedAtSeconds);
      levels.push(Math.round(stall.mediaSeconds / segmentSeconds) * segmentSeconds - stall.mediaSeconds);
    }
    for (const { measuredSeconds, prescribedSeconds, sizeBits } of timings) {
      residuals.push(measuredSeconds - prescribedSeconds - responseSeconds(scenario.browser, sizeBits));
    }
  }
  return {
    requestLatenessSeconds: spread(lateness),
    nextRequestSeconds: spread(gaps),
    resumeSeconds: spread(resumes),
    stallLevelSeconds: spread(levels),
    responseResidualSeconds: spread(residuals),
  };
}

const accepted = (sessions: readonly RawSession[]) =>
  sessions.filter(({ rejected, result }) => rejected === undefined && result.endedBy === 'end');

function traceOf({ trace: name, dataset }: RawSession, traces: readonly Trace[]): Trace {
  const trace = traces.find((candidate) => candidate.name === name && candidate.metadata.dataset === dataset);
  if (trace === undefined) {
    throw new InputError({
      field: 'traces',
      expected: `trace ${quoted(name)} of data set ${quoted(dataset)}`,
      got: 'none',
    });
  }
  return trace;
}

function sameShare(browser: SessionResult, simulated: SessionResult): number {
  const bitrates = new Map(simulated.segments.map(({ index, bitrateBps }) => [index, bitrateBps]));
  const same = browser.segments.filter(({ index, bitrateBps }) => bitrates.get(index) === bitrateBps).length;
  return same / browser.segments.length;
}

/** The unit that each session is resampled with: its recording group, or its recording where there are few groups. */
function unitsOf(sessions: readonly RawSession[]): number[] {
  const groups = sessions.map(({ dataset, result }) => JSON.stringify([dataset, result.group]));
  const names =
    new Set(groups).size >= FEWEST_GROUPS
      ? groups
      : sessions.map(({ dataset, trace }) => JSON.stringify([dataset, trace]));
  const numbers = new Map<string, number>();
  return names.map((name) => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function at(values: readonly number[], level: number): number {
  return values.length === 0 ? Number.NaN : quantile(Float64Array.from(values).sort(), level);
}

function spread(values: readonly number[]): Spread {
  return {
    count: values.length,
    mean: mean(values),
    p5: at(values, 0.05),
    median: at(values, 0.5),
    p95: at(values, 0.95),
  };
}
