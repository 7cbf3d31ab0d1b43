/** Shows the decision of a player that was in force at a moment, and its reason. */

import { element, setText, styleOfPlace } from '../dom.ts';
import { bitrate, clock, decimal, megabits, seconds } from '../format.ts';
import type { RunPlayer } from '../run/run.ts';
import type { DecisionNote } from '../run/session-record.ts';

export class DecisionView {
  readonly root: HTMLElement;
  private readonly _record: RunPlayer['record'];
  private readonly _when = element('p', { class: 'when' }, 'No decision yet.');
  private readonly _reason = element('p', { class: 'reason' });
  private readonly _facts = element('p', { class: 'small' });
  private readonly _pace = element('p', { class: 'small', hidden: true });
  private _shown: DecisionNote | undefined;

  constructor(title: string, { place, record }: RunPlayer) {
    this._record = record;
    this.root = element(
      'section',
      { class: 'decision', style: styleOfPlace(place), 'aria-label': `Decisions of ${title}` },
      element('h3', {}, title),
      this._when,
      this._reason,
      this._facts,
      this._pace,
    );
  }

  draw(momentSeconds: number): void {
    const record = this._record;
    const pace = inForce(record.paces, momentSeconds);
    this._pace.hidden = pace === undefined;
    if (pace) setText(this._pace, `rate ${decimal(pace.playbackRate, 2)} · ${pace.reason}`);
    const decision = inForce(record.decisions, momentSeconds);
    if (decision === this._shown) return;
    this._shown = decision;
    setText(this._when, decision === undefined ? 'No decision yet.' : headline(decision));
    setText(this._reason, decision?.reason ?? '');
    setText(this._facts, decision === undefined ? '' : factsOf(decision));
  }
}

/** Returns the note in force at a second of the session; undefined before the first note. */
export function inForce<N extends { atSeconds: number }>(notes: readonly N[], momentSeconds: number): N | undefined {
  return notes.findLast(({ atSeconds }) => atSeconds <= momentSeconds + 1e-3);
}

function headline({ atSeconds, kind, segmentIndex, bitrateBps, previousBitrateBps }: DecisionNote): string {
  const at = `${clock(atSeconds)} · segment ${segmentIndex + 1}`;
  const to = `${bitrate(bitrateBps)} Mbit/s`;
  if (kind === 'abandon') return `${at}: abandons the download, ${to} instead`;
  if (previousBitrateBps === undefined) return `${at}: begins at ${to}`;
  if (bitrateBps === previousBitrateBps) return `${at}: stays at ${to}`;
  return `${at}: ${bitrateBps > previousBitrateBps ? 'up' : 'down'} to ${to}`;
}

function factsOf(decision: DecisionNote): string {
  const { bufferLevelSeconds, plannedThroughputBps, forecast, forecastAgeSeconds, handoverInHorizon } = decision;
  return [
    `buffer ${seconds(bufferLevelSeconds)}`,
    ...(plannedThroughputBps === undefined ? [] : [`planned on ${megabits(plannedThroughputBps)} Mbit/s`]),
    ...(forecast === undefined ? [] : [`forecast “${forecast.source}”, ${seconds(forecastAgeSeconds ?? 0)} old`]),
    ...(handoverInHorizon === undefined ? [] : [handoverInHorizon ? 'a handover ahead' : 'no handover ahead']),
  ].join(' · ');
}
