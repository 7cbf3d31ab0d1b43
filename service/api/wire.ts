/** JSON schemas of the API, from which types, validation and OpenAPI derive. Times are the service's UTC in ms. */

import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import { EPOCH_SECONDS, type HandoverDip, type QuantileForecast } from '../../abr/forecast.ts';

const EVENT_TYPES = ['forecast', 'handover', 'state', 'trigger', 'clock'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Most observations of a report: 20 s in steps of 0.1 s. */
const MOST_OBSERVATIONS = 200;

const number = (description: string, limits = {}) => Type.Number({ description, ...limits });
const text = (description: string, limits = {}) => Type.String({ description, ...limits });
const utcMs = (description: string) => number(`${description}, the service's UTC in ms`);
const share = (description: string) => number(description, { minimum: 0, maximum: 1 });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const optional = Type.Optional;
const list = <Schema extends TSchema>(items: Schema, description: string) => Type.Array(items, { description });
const object = <Properties extends TProperties>(description: string, properties: Properties) =>
  Type.Object(properties, { description });
/** The schema of a reply, which has no additional properties, unlike a request. */
const reply = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
const about = <Properties extends TProperties>(description: string, properties: Properties) =>
  Type.Object(properties, { additionalProperties: false, description });

export const COMPONENTS: TSchema[] = [];
function component<Schema extends TSchema>($id: string, schema: Schema) {
  COMPONENTS.push({ ...schema, $id });
  return Type.Unsafe<Static<Schema>>({ $ref: `${$id}#` });
}

function replyComponent<Properties extends TProperties>($id: string, properties: Properties) {
  return component($id, reply(properties));
}

const timeSpan = {
  startMs: utcMs('Start'),
  endMs: number("End, the service's UTC in ms, after `startMs` by at most 10 s"),
};
const throughput = object('The player received `bits` from `startMs` to `endMs` while it was downloading', {
  kind: Type.Literal('throughput'),
  ...timeSpan,
  bits: number('Received bits', { minimum: 0, maximum: 1e13 }),
});
const idle = object('The player downloaded nothing', { kind: Type.Literal('idle'), ...timeSpan });
const requestLatency = object('The first byte of a response arrived at `atMs`', {
  kind: Type.Literal('request-latency'),
  atMs: utcMs('First byte'),
  latencyMs: number('From the request to the first byte of its response', { exclusiveMinimum: 0, maximum: 600000 }),
});
export const OBSERVATION_KINDS: ReadonlyMap<unknown, TObject> = new Map<unknown, TObject>([
  ['throughput', throughput],
  ['idle', idle],
  ['request-latency', requestLatency],
]);
export type WireObservation = Static<typeof throughput> | Static<typeof idle> | Static<typeof requestLatency>;
const observation = component('Observation', Type.Union([throughput, idle, requestLatency]));

export const OBSERVATIONS_REQUEST = component(
  'ObservationsRequest',
  Type.Object({
    player: text('Random name that the player chooses for its lifetime', { pattern: '^[A-Za-z0-9._:-]{1,64}$' }),
    observations: Type.Array(Type.Unsafe<WireObservation>({ anyOf: [observation, {}] }), {
      description:
        'In order of time. An empty array queries time and share. Items that are not an `Observation` are rejected ' +
        'one by one; the others are accepted',
      maxItems: MOST_OBSERVATIONS,
    }),
    isDownloading: optional(
      Type.Boolean({
        description:
          'Whether the player has been downloading since its newest observation: forecasts then wait briefly for its ' +
          'next report. Default: whether that observation is of throughput',
      }),
    ),
  }),
);
export type ObservationsRequest = Static<typeof OBSERVATIONS_REQUEST>;

const rejection = reply({
  reason: Type.Enum(['unknown-kind', 'malformed', 'late', 'ahead', 'impossible'], {
    description:
      '`unknown-kind`, `malformed`: not an `Observation`. `late`: older than the time that the forecasts start from. ' +
      '`ahead`: it ends after `serverUtcMs`. `impossible`: it is reversed, longer than 10 s or above 100 Gbit/s',
  }),
  count: Type.Integer({ minimum: 1, description: 'Observations of the report rejected for this reason' }),
  message: text('Path, expectation and received value of the first of them'),
});
export type Rejection = Static<typeof rejection>;

const serverUtcMs = utcMs('Time of the reply');
const version = (description: string) => Type.Integer({ minimum: 1, description });
const protocol = about('Versions of the protocol that the service speaks; absent: version 1', {
  oldest: version('Oldest version'),
  newest: version('Newest version'),
});

export const OBSERVATIONS_REPLY = replyComponent('ObservationsReply', {
  serverUtcMs,
  protocol: optional(protocol),
  accepted: count('Accepted observations'),
  rejected: list(rejection, 'Rejected observations by reason; empty if all were accepted'),
  share: share('Share of the forecast capacity that this player may expect, above 0'),
});
export type ObservationsReply = Static<typeof OBSERVATIONS_REPLY>;

const steps = list(number('In seconds', { exclusiveMinimum: 0 }), 'Ends of the steps after `issuedAtMs`, ascending');
const levels = list(share('Above 0, below 1'), 'Quantile levels, ascending');
const seconds = (description: string) => number(description, { minimum: 0, maximum: EPOCH_SECONDS });
const lostShare = share('Share of the capacity that is lost');
const dip = about('The short loss of capacity at the handover', {
  timingSeconds: seconds('Standard deviation of its begin about `atMs`'),
  depth: lostShare,
  levels,
  seconds: list(seconds('In seconds'), 'Its duration at each quantile level'),
  collapse: about('A longer loss of capacity after the dip', {
    probability: share('Probability that it follows'),
    depth: lostShare,
    seconds: seconds('Its duration'),
  }),
});
const handover = replyComponent('Handover', {
  atMs: utcMs('Expected time'),
  confidence: share('Confidence'),
  dip: optional(Type.Unsafe<HandoverDip>(dip)),
});
const table = (description: string) => list(Type.Array(Type.Number({ minimum: 0 })), description);
const forecast = component(
  'Forecast',
  Type.Unsafe<QuantileForecast>(
    reply({
      kind: optional(Type.Literal('quantiles')),
      issuedAtMs: utcMs('End of the observations that it is based on'),
      source: text('Name of the forecaster'),
      stepEndsSeconds: steps,
      levels,
      quantilesBps: table(
        'Mean capacity of the whole link per step in bit/s: a row per step, a column per quantile level',
      ),
      rankCorrelation: share('Correlation of ranks from one step to the next'),
      handovers: list(handover, 'The next handovers'),
      fluctuation: optional(
        about('Capacity of 0.1 s as a ratio to the mean of its step', {
          levels,
          ratios: list(Type.Number({ minimum: 0 }), 'The ratio at each quantile level'),
          correlation: number('Correlation of ranks from one 0.1 s to the next', { minimum: 0, exclusiveMaximum: 1 }),
        }),
      ),
    }),
  ),
);

const OBSERVED = 'Seconds of downloading observed since the start, and those kept from before it';
export const FORECAST_REPLY = replyComponent('ForecastReply', {
  serverUtcMs,
  protocol: optional(protocol),
  forecast: nullable(forecast),
  observedSeconds: number(OBSERVED, { minimum: 0 }),
  because: optional(text('Why there is no forecast')),
});
export type ForecastReply = Static<typeof FORECAST_REPLY>;

export const HANDOVERS_REPLY = replyComponent('HandoversReply', {
  serverUtcMs,
  handovers: list(handover, 'The next handovers, soonest first; empty unless the link is known to have them'),
  epoch: reply({
    phaseMs: nullable(utcMs('Time of a handover; others are multiples of 15 s from it')),
    uncertaintySeconds: nullable(number('Expected root mean square error of the phase')),
    leoProbability: nullable(share('Probability that the link has 15 s epochs')),
  }),
});
export type HandoversReply = Static<typeof HANDOVERS_REPLY>;

const rates = (description: string) =>
  list(reply({ atMs: utcMs('Time'), bps: number('In bit/s', { minimum: 0 }) }), `${description}, oldest first`);
export const HISTORY_REPLY = replyComponent('HistoryReply', {
  serverUtcMs,
  downlinkUsage: rates('Usage per second of the dish, at its end; empty without a dish'),
  expectedCapacity: rates('Median capacity of the first step of each forecast, at its issue'),
  lastHour: list(
    reply({
      startMs: utcMs('Start of the minute'),
      observedSeconds: count('Seconds that the dish reported'),
      outageSeconds: count('Seconds that lost 99 % of the pings or more, without the obstructed ones'),
      obstructedSeconds: count('Seconds in which something blocked the view of the dish; unknown before the start'),
    }),
    'Observed minutes of the last hour, oldest first; empty without a dish',
  ),
});
export type HistoryReply = Static<typeof HISTORY_REPLY>;

const problem = replyComponent('Problem', {
  part: text('Affected part of the service'),
  code: text('Kind of problem'),
  message: text('For a person'),
  sinceMs: utcMs('First report'),
  lastMs: utcMs('Last report'),
  count: count('Number of reports'),
});

const dishState = Type.Enum(
  ['unused', 'connecting', 'online', 'obstructed', 'outage', 'asleep', 'rebooting', 'unreachable'],
  { description: '`unused`: no dish is configured' },
);
export type DishStateName = Static<typeof dishState>;
const dishReply = replyComponent('Dish', {
  state: dishState,
  sinceMs: utcMs('Start of this state'),
  detail: optional(text('For a person: cause of an outage, or why the dish is unreachable')),
  hardware: optional(text('Version of the hardware')),
  software: optional(text('Version of the firmware')),
  uptimeSeconds: optional(number('Time since its boot')),
  latencyMs: optional(number('Ping to the point of presence, newest second')),
  dropRate: optional(share('Share of pings lost, newest second')),
  downlinkUsageBps: optional(number('Usage, not capacity, in bit/s')),
  uplinkUsageBps: optional(number('Usage, not capacity, in bit/s')),
  fractionObstructed: optional(share('Share of the sky that is obstructed')),
  lastAnswerMs: optional(utcMs('Newest answer of the dish')),
});
export type DishReply = Static<typeof dishReply>;

const satelliteInView = reply({
  name: text('Name of the satellite'),
  azimuthDegrees: number('Clockwise from north'),
  elevationDegrees: number('Above the horizon'),
});
export type SatelliteInView = Static<typeof satelliteInView>;
const skyReply = replyComponent('Sky', {
  state: Type.Enum(['unused', 'no-elements', 'elements-too-old', 'no-location', 'running'], {
    description: '`unused`: no elements are configured',
  }),
  satellites: count('Satellites with elements'),
  elementsAgeHours: optional(number('Age of the newest elements')),
  inView: list(satelliteInView, 'Above 25 degrees, highest first'),
});
export type SkyReply = Static<typeof skyReply>;

export const STATE_REPLY = replyComponent('StateReply', {
  serverUtcMs,
  version: text('Version of the service'),
  startedMs: utcMs('Start of the service'),
  dish: dishReply,
  sky: skyReply,
  link: reply({
    players: count('Players that reported in the last seconds'),
    observedSeconds: number(OBSERVED),
    eachPlayer: list(
      reply({
        share: share('Share of the capacity that it may expect'),
        isDownloading: Type.Boolean({ description: 'As of its newest report' }),
        reportedMs: utcMs('Newest report'),
      }),
      'The players, in the order of their first reports',
    ),
  }),
  location: optional(
    about('Rounded to 0.1 degree unless configured otherwise', {
      latitudeDegrees: number('North'),
      longitudeDegrees: number('East'),
    }),
  ),
  recording: reply({
    directory: nullable(text('Name of the folder; null: nothing is recorded')),
    lines: count('Lines written'),
    waiting: count('Lines waiting for disk space'),
    lost: count('Lines dropped because the disk was full for too long'),
    deletedFiles: count('Files deleted since the start: too many, too old, or no space for newer ones'),
  }),
  problems: list(problem, 'Current problems'),
});
export type StateReply = Static<typeof STATE_REPLY>;

const firedTrigger = replyComponent('Trigger', {
  id: text('Unique to this firing, so that receivers can drop duplicates'),
  name: text('Name of the trigger'),
  atMs: utcMs('Time of the firing'),
  metric: text('Evaluated metric'),
  value: number('Value of the metric'),
  threshold: number('Threshold that it was compared with'),
  message: text('For a person'),
});
export type FiredTrigger = Static<typeof firedTrigger>;

export const ERROR_REPLY = replyComponent('ErrorReply', {
  error: reply({ code: text('Kind of error'), message: text('For a person') }),
  protocol: optional(protocol),
});

const someType = `(${EVENT_TYPES.join('|')})`;
const spoken = {
  protocol: optional(
    text('Newest version of the protocol that the client speaks. Default: 1', { pattern: '^\\d{1,4}$' }),
  ),
};
export const PROTOCOL_QUERY = Type.Object(spoken);
export const EVENTS_QUERY = Type.Object({
  ...spoken,
  types: optional(
    text(`Event types to send, separated by commas: ${EVENT_TYPES.join(', ')}. Default: all`, {
      pattern: `^${someType}(,${someType})*$`,
    }),
  ),
});
