/** JSON Schemas of `wire.ts`: requests are validated by them, and the OpenAPI document is made of them. */

type Schema = Record<string, unknown>;

const number = (description: string, limits: Schema = {}): Schema => ({ type: 'number', description, ...limits });
const text = (description: string, limits: Schema = {}): Schema => ({ type: 'string', description, ...limits });
const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema['type'], 'null'] });
const list = (items: Schema, description: string, limits: Schema = {}): Schema => ({
  type: 'array',
  description,
  items,
  ...limits,
});

/** Every property but those named in `optional` is required; others are refused. */
function object(properties: Record<string, Schema>, optional: readonly string[] = [], rest: Schema = {}): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', additionalProperties: false, required, properties, ...rest };
}

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const utcMs = (description: string): Schema => number(`${description}, UTC of the service in ms`);
const share = (description: string): Schema => number(description, { minimum: 0, maximum: 1 });
const count = (description: string): Schema => ({ type: 'integer', minimum: 0, description });

/** UTC of the years 2000 to 2200, in ms: seconds instead of ms are found out. */
const MOMENT = { minimum: 946684800000, maximum: 7258118400000 };
/** Observations in one report, 0.1 s each: enough for 10 s. */
export const MOST_OBSERVATIONS = 200;
export const PLAYER_PATTERN = '^[A-Za-z0-9._:-]{1,64}$';

const observation: Schema = {
  type: 'object',
  description:
    '`throughput`: `bits` came from `startMs` to `endMs` while something was downloaded. `idle`: nothing was asked for. ' +
    '`request-latency`: from sending a request, whose first byte came at `atMs`, to that byte.',
  additionalProperties: false,
  required: ['kind'],
  properties: {
    kind: { enum: ['throughput', 'idle', 'request-latency'] },
    startMs: number('UTC of the service in ms', MOMENT),
    endMs: number('UTC of the service in ms, after `startMs` by at most 10 s', MOMENT),
    bits: number('Bits that came', { minimum: 0, maximum: 1e13 }),
    atMs: number('UTC of the service in ms', MOMENT),
    latencyMs: number('In ms', { exclusiveMinimum: 0, maximum: 600000 }),
  },
  allOf: [
    needs('throughput', ['startMs', 'endMs', 'bits']),
    needs('idle', ['startMs', 'endMs']),
    needs('request-latency', ['atMs', 'latencyMs']),
  ],
};

function needs(kind: string, required: readonly string[]): Schema {
  // biome-ignore lint/suspicious/noThenProperty: it is JSON Schema's, and nobody awaits it.
  return { if: { properties: { kind: { const: kind } } }, then: { required } };
}

/** Of the body of `POST /v1/observations`. */
export const OBSERVATIONS_REQUEST: Schema = object({
  player: text('Name that a player gives itself for as long as it lives; made at random', { pattern: PLAYER_PATTERN }),
  observations: list(observation, 'In order of time; may be empty, which asks for time and share alone', {
    maxItems: MOST_OBSERVATIONS,
  }),
});

const serverUtcMs = utcMs("The service's clock when it answered");
const steps = list(number('In seconds', { exclusiveMinimum: 0 }), 'Ends of the steps after `issuedAtMs`, ascending');
const levels = list(share('Above 0, below 1'), 'Quantile levels, ascending');
const table = (description: string): Schema => list(list(number('', { minimum: 0 }), ''), description);

export const SCHEMAS: Record<string, Schema> = {
  ObservationsRequest: OBSERVATIONS_REQUEST,
  ObservationsReply: object({
    serverUtcMs,
    accepted: count('Observations that count'),
    late: count('Observations that came too late'),
    impossible: count('Observations ahead of the clock of the service, reversed or too long'),
    share: share('Part of the forecast capacity that this player may count on, above 0'),
  }),
  Handover: object({ atMs: utcMs('When it is expected'), confidence: share('How sure that is') }),
  Forecast: object(
    {
      kind: { const: 'quantiles' },
      issuedAtMs: utcMs('The moment up to which the link is known'),
      source: text('Who made it'),
      stepEndsSeconds: steps,
      levels,
      quantilesBps: table(
        'Mean capacity of the whole link within each step in bit/s: a row per step, a column per level',
      ),
      rankCorrelation: share('Correlation of ranks from one step to the next'),
      handovers: list(ref('Handover'), 'The next ones'),
      latency: object(
        { stepEndsSeconds: steps, levels, quantilesMs: table('Latency in ms: a row per step, a column per level') },
        [],
        { description: 'Latency from the dish to the point of presence' },
      ),
    },
    ['kind', 'latency'],
  ),
  ForecastReply: object(
    {
      serverUtcMs,
      forecast: { anyOf: [ref('Forecast'), { type: 'null' }] },
      observedSeconds: number('Seconds of downloading that the service has seen since it was started', { minimum: 0 }),
      because: text('Why there is no forecast'),
    },
    ['because'],
  ),
  HandoversReply: object({
    serverUtcMs,
    handovers: list(ref('Handover'), 'The next ones; empty unless the link is known to have them'),
    epoch: object({
      phaseMs: nullable(utcMs('A handover is at this plus multiples of 15 s')),
      uncertaintySeconds: nullable(number('Root of the mean squared error that is expected of it')),
      leoProbability: nullable(share('Probability that the link has 15 s epochs')),
    }),
    degraded: object({
      nextProbability: nullable(share('Probability that the next epoch is degraded')),
      epochs: count('Epochs that this was learnt from'),
      current: { type: 'boolean', description: 'Whether the epoch under way counts as degraded so far' },
    }),
    evidence: list(
      object({
        atMs: utcMs('When'),
        kind: { enum: ['latency-step', 'drops', 'satellite'] },
        confidence: share('How sure that is'),
        detail: text('For a person'),
      }),
      'Changes that were seen, newest first',
    ),
  }),
  Problem: object({
    part: text('Of the service'),
    code: text('Kind of problem'),
    message: text('For a person'),
    sinceMs: utcMs('First noticed'),
    lastMs: utcMs('Last noticed'),
    count: count('How often it was noticed'),
  }),
  Dish: object(
    {
      state: {
        enum: ['unused', 'connecting', 'online', 'obstructed', 'outage', 'asleep', 'rebooting', 'unreachable'],
      },
      sinceMs: utcMs('Since when it has been in that state'),
      detail: text('For a person: cause of an outage, or why the dish cannot be reached'),
      hardware: text('Version of the hardware'),
      software: text('Version of the firmware'),
      uptimeSeconds: number('Since it booted'),
      latencyMs: number('Ping to the point of presence, newest second'),
      dropRate: share('Pings lost, newest second'),
      downlinkUsageBps: number('Usage, not capacity, in bit/s'),
      uplinkUsageBps: number('Usage, not capacity, in bit/s'),
      fractionObstructed: share('Part of the sky that is obstructed'),
      lastAnswerMs: utcMs('Newest answer of the dish'),
      malformedValues: count('Values that were not what they should be, and left out'),
    },
    [
      'detail',
      'hardware',
      'software',
      'uptimeSeconds',
      'latencyMs',
      'dropRate',
      'downlinkUsageBps',
      'uplinkUsageBps',
      'fractionObstructed',
      'lastAnswerMs',
    ],
  ),
  Sky: object(
    {
      state: { enum: ['unused', 'no-elements', 'elements-too-old', 'no-location', 'running'] },
      satellites: count('Satellites that positions are computed for'),
      elementsAgeHours: number('Age of the newest elements'),
      inView: list(
        object({
          name: text('Name of the satellite'),
          azimuthDegrees: number('From north over east'),
          elevationDegrees: number('Above the horizon'),
          distanceKm: number('From the dish'),
        }),
        'Above 25 degrees, highest first',
      ),
      serving: object(
        {
          name: text('Name of the satellite'),
          confidence: share('How sure that is'),
          sinceMs: utcMs('Since when it has served'),
        },
        [],
        { description: 'The satellite that the dish is thought to use' },
      ),
    },
    ['elementsAgeHours', 'serving'],
  ),
  StateReply: object(
    {
      serverUtcMs,
      version: text('Of the service'),
      startedMs: utcMs('When the service was started'),
      dish: ref('Dish'),
      sky: ref('Sky'),
      link: object({
        players: count('Players heard of in the last seconds'),
        observedSeconds: number('Seconds of downloading reported since the start'),
        forecaster: nullable(text('Whose the newest forecast is: `built-in`, or `model:` and the name of a model')),
        lastBusyMs: nullable(utcMs('End of the newest download reported')),
        subscribers: count('Event streams open'),
      }),
      location: object(
        {
          latitudeDegrees: number('North'),
          longitudeDegrees: number('East'),
          from: { enum: ['dish', 'options'] },
        },
        [],
        { description: 'Rounded to 0.1 degree unless the service was told otherwise' },
      ),
      recording: object({
        directory: nullable(text('Name of the folder; null: nothing is recorded')),
        lines: count('Lines written'),
        waiting: count('Lines waiting for room on the disk'),
      }),
      problems: list(ref('Problem'), 'What is wrong at the moment'),
    },
    ['location'],
  ),
  Trigger: object({
    name: text('Of the trigger'),
    atMs: utcMs('When it fired'),
    metric: text('What was looked at'),
    value: number('Of the metric'),
    threshold: number('That it was compared with'),
    message: text('For a person'),
  }),
  ErrorReply: object({ error: object({ code: text('Kind of error'), message: text('For a person') }) }),
};
