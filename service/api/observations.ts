/** Validates the observations of a report one by one, so that an invalid observation does not spoil the report. */

import type { FastifyRequest } from 'fastify';
import { describeValue } from '../../abr/errors.ts';
import { MOST_BPS, type ObservationVerdict } from '../link/shared-link.ts';
import { validationMessage } from './refusals.ts';
import { OBSERVATION_KINDS, type ObservationsRequest, type Rejection, type WireObservation } from './wire.ts';

/** Collects the valid observations, and a rejection per reason with the message for its first observation. */
export class ReportReader {
  private readonly _rejected = new Map<Rejection['reason'], Rejection>();
  private readonly _places: string[] = [];
  /** The valid observations, without unknown properties. */
  readonly observations: WireObservation[] = [];

  constructor(request: FastifyRequest<{ Body: ObservationsRequest }>) {
    request.body.observations.forEach((value: unknown, i) => {
      const place = `body.observations[${i}]`;
      const kind = (value as { kind?: unknown } | null)?.kind;
      const schema = OBSERVATION_KINDS.get(kind);
      if (schema === undefined) {
        const known = [...OBSERVATION_KINDS.keys()].join(', ');
        this._reject('unknown-kind', `${place}.kind: expected one of ${known}, got ${describeValue(kind)}`);
        return;
      }
      const isValid = request.compileValidationSchema(schema);
      if (!isValid(value)) {
        this._reject('malformed', validationMessage(isValid.errors![0]!, { value, place }));
        return;
      }
      const fields = Object.keys(schema.properties).map((name) => [name, (value as Record<string, unknown>)[name]]);
      this._places.push(place);
      this.observations.push(Object.fromEntries(fields) as WireObservation);
    });
  }

  /** Returns all rejections, including the rejections that `verdicts` on `observations` cause. */
  rejections(verdicts: readonly ObservationVerdict[], serverUtcMs: number): Rejection[] {
    verdicts.forEach((verdict, i) => {
      if (verdict === 'accepted') return;
      const observation = this.observations[i]!;
      const [field, ms] =
        observation.kind === 'request-latency' ? ['atMs', observation.atMs] : ['endMs', observation.endMs];
      const bits = observation.kind === 'throughput' ? observation.bits : 0;
      const expected = {
        late: `${field}: expected a time shortly before serverUtcMs (${serverUtcMs}), got ${ms}`,
        ahead: `${field}: expected a time no later than serverUtcMs (${serverUtcMs}), got ${ms}`,
        impossible: `${field}: expected a time after startMs by at most 10 s, got ${ms}`,
        'too-fast': `bits: expected at most ${MOST_BPS / 1e9} Gbit/s from startMs to endMs, got ${bits}`,
      };
      this._reject(verdict === 'too-fast' ? 'impossible' : verdict, `${this._places[i]}.${expected[verdict]}`);
    });
    return [...this._rejected.values()];
  }

  private _reject(reason: Rejection['reason'], message: string): void {
    const known = this._rejected.get(reason);
    if (known === undefined) this._rejected.set(reason, { reason, count: 1, message });
    else known.count++;
  }
}
