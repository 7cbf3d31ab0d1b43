/**
 * What goes over the wire, as JSON: these schemas are the types, what requests are validated by, and the components of the
 * OpenAPI document. Times are UTC of the service in ms.
 */

import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { QuantileForecast } from '../../abr/forecast.ts';

/** Types of event on `GET /v1/events`. */
export const EVENT_TYPES = ['forecast', 'handover', 'state', 'trigger', 'clock'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Observations in one report, 0.1 s each: enough for 20 s. */
const MOST_OBSERVATIONS = 200;

const number = (description: string, limits = {}) => Type.Number({ description, ...limits });
const text = (description: string, limits = {}) => Type.String({ description, ...limits });
const utcMs = (description: string) => number(`${description}, UTC of the service in ms`);
const share = (description: string) => number(description, { minimum: 0, maximum: 1 });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const list = <Schema extends TSchema>(items: Schema, description: string) => Type.Array(items, { description });
/** Replies have no other properties than these. */
const reply: typeof Type.Object = (properties, options) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** Components of the document, which others refer to by name. */
export const COMPONENTS: TSchema[] = [];
function component<Schema extends TSchema>($id: string, schema: Schema) {
  COMPONENTS.push({ ...schema, $id });
  return Type.Unsafe<Static<Schema>>({ $ref: `${$id}#` });
}

const spanOfTime = {
  startMs: utcMs('Begin'),
  endMs: number('End, UTC of the service in ms, after `startMs` by at most 10 s'),
};
const throughput = Type.Object(
  { kind: Type.Literal('throughput'), ...spanOfTime, bits: number('Bits that came', { minimum: 0, maximum: 1e13 }) },
  { description: '`bits` came from `startMs` to `endMs` while something was downloaded' },
);
const idle = Type.Object({ kind: Type.Literal('idle'), ...spanOfTime }, { description: 'Nothing was asked for' });
const requestLatency = Type.Object(
  {
    kind: Type.Literal('request-latency'),
    atMs: utcMs('First byte'),
    latencyMs: number('From sending the request to its first byte', { exclusiveMinimum: 0, maximum: 600000 }),
  },
  { description: 'A request whose first byte came at `atMs`' },
);
/** By `kind`. */
export const OBSERVATION_KINDS: ReadonlyMap<unknown, TObject> = new Map<unknown, TObject>([
  ['throughput', throughput],
  ['idle', idle],
  ['request-latency', requestLatency],
]);
/** An observation of a player. */
export type WireObservation = Static<typeof throughput> | Static<typeof idle> | Static<typeof requestLatency>;
const observation = component('Observation', Type.Union([throughput, idle, requestLatency]));

const observationsRequest = Type.Object({
  player: text('Name that a player gives itself for as long as it lives; made at random', {
    pattern: '^[A-Za-z0-9._:-]{1,64}$',
  }),
  observations: Type.Array(Type.Unsafe<WireObservation>({ anyOf: [observation, {}] }), {
    description:
      'In order of time; may be empty, which asks for time and share alone. One that is no `Observation` is not taken, ' +
      'and the others are',
    maxItems: MOST_OBSERVATIONS,
  }),
});
export type ObservationsRequest = Static<typeof observationsRequest>;
export const OBSERVATIONS_REQUEST = component('ObservationsRequest', observationsRequest);

const rejection = reply({
  reason: Type.Enum(['unknown-kind', 'malformed', 'late', 'ahead', 'impossible'], {
    description:
      '`unknown-kind`, `malformed`: no `Observation`. `late`: the forecasts are beyond its time. `ahead`: it ends after ' +
      '`serverUtcMs`. `impossible`: it is reversed, or longer than 10 s',
  }),
  count: Type.Integer({ minimum: 1, description: 'Observations of the report that were not taken for this reason' }),
  message: text('Where the first of them is, what was expected and what came'),
});
export type Rejection = Static<typeof rejection>;

const serverUtcMs = utcMs("The service's clock when it answered");

const observationsReply = reply({
  serverUtcMs,
  accepted: count('Observations that count'),
  rejected: list(rejection, 'Why others do not, a reason each; empty where all were accepted'),
  share: share('Part of the forecast capacity that this player may count on, above 0'),
});
export type ObservationsReply = Static<typeof observationsReply>;
export const OBSERVATIONS_REPLY = component('ObservationsReply', observationsReply);

const handover = component(
  'Handover',
  reply({ atMs: utcMs('When it is expected'), confidence: share('How sure that is') }),
);

const steps = list(number('In seconds', { exclusiveMinimum: 0 }), 'Ends of the steps after `issuedAtMs`, ascending');
const levels = list(share('Above 0, below 1'), 'Quantile levels, ascending');
const table = (description: string) => list(Type.Array(Type.Number({ minimum: 0 })), description);
const forecast = component(
  'Forecast',
  Type.Unsafe<QuantileForecast>(
    reply({
      kind: Type.Optional(Type.Literal('quantiles')),
      issuedAtMs: utcMs('The moment up to which the link is known'),
      source: text('Who made it'),
      stepEndsSeconds: steps,
      levels,
      quantilesBps: table(
        'Mean capacity of the whole link within each step in bit/s: a row per step, a column per level',
      ),
      rankCorrelation: share('Correlation of ranks from one step to the next'),
      handovers: list(handover, 'The next ones'),
      latency: Type.Optional(
        reply(
          {
            stepEndsSeconds: steps,
            levels,
            quantilesMs: table('Latency in ms: a row per step, a column per level'),
          },
          { description: 'Latency from the dish to the point of presence' },
        ),
      ),
    }),
  ),
);

const forecastReply = reply({
  serverUtcMs,
  forecast: nullable(forecast),
  observedSeconds: number('Seconds of downloading that the service has seen since it was started', { minimum: 0 }),
  because: Type.Optional(text('Why there is no forecast')),
});
export type ForecastReply = Static<typeof forecastReply>;
export const FORECAST_REPLY = component('ForecastReply', forecastReply);

const handoverEvidence = reply({
  atMs: utcMs('When'),
  kind: Type.Enum(['latency-step', 'drops', 'satellite']),
  confidence: share('How sure that is'),
  detail: text('For a person'),
});
export type HandoverEvidence = Static<typeof handoverEvidence>;

const handoversReply = reply({
  serverUtcMs,
  handovers: list(handover, 'The next ones, soonest first; empty unless the link is known to have them'),
  epoch: reply({
    phaseMs: nullable(utcMs('A handover is at this plus multiples of 15 s')),
    uncertaintySeconds: nullable(number('Root of the mean squared error that is expected of it')),
    leoProbability: nullable(share('Probability that the link has 15 s epochs')),
  }),
  degraded: reply({
    nextProbability: nullable(share('Probability that the next epoch is degraded; null before there were enough')),
    epochs: count('Epochs that this was learnt from'),
    current: Type.Boolean({ description: 'Whether the epoch under way counts as degraded so far' }),
  }),
  evidence: list(handoverEvidence, 'Changes that were seen, newest first'),
});
export type HandoversReply = Static<typeof handoversReply>;
export const HANDOVERS_REPLY = component('HandoversReply', handoversReply);

const problem = component(
  'Problem',
  reply({
    part: text('Of the service'),
    code: text('Kind of problem'),
    message: text('For a person'),
    sinceMs: utcMs('First noticed'),
    lastMs: utcMs('Last noticed'),
    count: count('How often it was noticed'),
  }),
);

const dishState = Type.Enum(
  ['unused', 'connecting', 'online', 'obstructed', 'outage', 'asleep', 'rebooting', 'unreachable'],
  { description: '`unused`: no dish was named' },
);
export type DishStateName = Static<typeof dishState>;
const dishReply = reply({
  state: dishState,
  sinceMs: utcMs('Since when it has been in that state'),
  detail: Type.Optional(text('For a person: cause of an outage, or why the dish cannot be reached')),
  hardware: Type.Optional(text('Version of the hardware')),
  software: Type.Optional(text('Version of the firmware')),
  uptimeSeconds: Type.Optional(number('Since it booted')),
  latencyMs: Type.Optional(number('Ping to the point of presence, newest second')),
  dropRate: Type.Optional(share('Pings lost, newest second')),
  downlinkUsageBps: Type.Optional(number('Usage, not capacity, in bit/s')),
  uplinkUsageBps: Type.Optional(number('Usage, not capacity, in bit/s')),
  fractionObstructed: Type.Optional(share('Part of the sky that is obstructed')),
  lastAnswerMs: Type.Optional(utcMs('Newest answer of the dish')),
  malformedValues: count('Values that were not what they should be, and left out'),
});
export type DishReply = Static<typeof dishReply>;

const satelliteInView = reply({
  name: text('Name of the satellite'),
  azimuthDegrees: number('From north over east'),
  elevationDegrees: number('Above the horizon'),
  distanceKm: number('From the dish'),
});
export type SatelliteInView = Static<typeof satelliteInView>;
const skyReply = reply({
  state: Type.Enum(['unused', 'no-elements', 'elements-too-old', 'no-location', 'running'], {
    description: '`unused`: no elements were named',
  }),
  satellites: count('Satellites that positions are computed for'),
  elementsAgeHours: Type.Optional(number('Age of the newest elements')),
  inView: list(satelliteInView, 'Above 25 degrees, highest first'),
  serving: Type.Optional(
    reply(
      {
        name: text('Name of the satellite'),
        confidence: share('How sure that is'),
        sinceMs: utcMs('Since when it has served'),
      },
      { description: 'The satellite that the dish is thought to use' },
    ),
  ),
});
export type SkyReply = Static<typeof skyReply>;

const stateReply = reply({
  serverUtcMs,
  version: text('Of the service'),
  startedMs: utcMs('When the service was started'),
  dish: component('Dish', dishReply),
  sky: component('Sky', skyReply),
  link: reply({
    players: count('Players heard of in the last seconds'),
    observedSeconds: number('Seconds of downloading reported since the start'),
    forecaster: nullable(text('Whose the newest forecast is: `built-in`, or `model:` and the name of a model')),
    lastBusyMs: nullable(utcMs('End of the newest download reported')),
    subscribers: count('Event streams open'),
  }),
  location: Type.Optional(
    reply(
      {
        latitudeDegrees: number('North'),
        longitudeDegrees: number('East'),
        from: Type.Enum(['dish', 'options']),
      },
      { description: 'Rounded to 0.1 degree unless the service was told otherwise' },
    ),
  ),
  recording: reply({
    directory: nullable(text('Name of the folder; null: nothing is recorded')),
    lines: count('Lines written'),
    waiting: count('Lines waiting for room on the disk'),
    lost: count('Lines that the disk did not take for so long that they were given up'),
    deletedFiles: count('Files deleted since the start: too many, too old, or no room for newer ones'),
  }),
  problems: list(problem, 'What is wrong at the moment'),
});
export type StateReply = Static<typeof stateReply>;
export const STATE_REPLY = component('StateReply', stateReply);

component(
  'Trigger',
  reply({
    id: text('Of this firing alone: whoever is told twice can leave one out'),
    name: text('Of the trigger'),
    atMs: utcMs('When it fired'),
    metric: text('What was looked at'),
    value: number('Of the metric'),
    threshold: number('That it was compared with'),
    message: text('For a person'),
  }),
);

export const ERROR_REPLY = component(
  'ErrorReply',
  reply({ error: reply({ code: text('Kind of error'), message: text('For a person') }) }),
);

const someType = `(${EVENT_TYPES.join('|')})`;
export const EVENTS_QUERY = Type.Object({
  types: Type.Optional(
    text(`Types wanted, separated by commas: ${EVENT_TYPES.join(', ')}. Default: all`, {
      pattern: `^${someType}(,${someType})*$`,
    }),
  ),
});
export const EVENTS_HEADERS = Type.Object({
  'Last-Event-ID': Type.Optional(text('Id of the newest event that the client has', { maxLength: 64 })),
});
