import { credentials, loadPackageDefinition, status } from '@grpc/grpc-js';
import { fromJSON, type MessageTypeDefinition } from '@grpc/proto-loader';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type DeviceClient, newDeviceClient, type RawRequest } from '../dish/device-api.ts';
import { pixelOf } from '../dish/obstruction-map.fixture.ts';
import { inPackage, message } from '../dish/protobuf-json.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { type FakeDish, type FakeDishOptions, startFakeDish } from './fake-dish.fixture.ts';
import { syntheticDish } from './simulated-dish.ts';

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

async function start(options: Partial<FakeDishOptions> = {}) {
  const clock = new ManualClock();
  const script = syntheticDish({ seed: 1 });
  const dish = await startFakeDish({ clock, script, ...options });
  const client = newDeviceClient(dish.address, {});
  opened.push(client, dish);
  return { clock, dish, client, script };
}

// biome-ignore lint/suspicious/noExplicitAny: decoded messages have no types.
function ask(client: DeviceClient, request: RawRequest): Promise<any> {
  return new Promise((resolve, reject) => {
    client.Handle(request, { deadline: Date.now() + 5000 }, (error, response) => {
      if (error === null) resolve(response!);
      else reject(error);
    });
  });
}

describe('the fake dish', () => {
  test('reports the current second of its script', async () => {
    const { client, clock, script } = await start();
    const second = script.at(clock.utcMs());
    const { dish_get_status: seen, api_version } = await ask(client, { get_status: {} });
    expect(api_version).toBe(35);
    expect(seen).toMatchObject({
      device_info: { software_version: '2026.06.fake' },
      device_state: { uptime_s: 3600 },
      pop_ping_latency_ms: expect.closeTo(second.latencyMs!, 3),
      downlink_throughput_bps: expect.closeTo(second.downlinkUsageBps, -2),
    });
    expect(seen!.outage).toBeUndefined();
  });

  test('keeps a ring buffer of 900 s', async () => {
    const { client, clock, script } = await start();
    clock.advance(37);
    const { dish_get_history: history } = await ask(client, { get_history: {} });
    expect(history!.current).toBe(3637);
    expect(history!.pop_ping_latency_ms).toHaveLength(900);
    for (const back of [0, 1, 500, 899]) {
      const second = script.at(clock.utcMs() - back * 1000);
      expect(history!.pop_ping_latency_ms![(3636 - back) % 900]).toBeCloseTo(second.latencyMs ?? 0, 3);
      expect(history!.pop_ping_drop_rate![(3636 - back) % 900]).toBeCloseTo(second.dropRate, 5);
    }
  });

  test('paints the satellite track into its map and clears it at a reboot', async () => {
    const { client, clock, dish, script } = await start();
    clock.advance(5);
    const { dish_get_obstruction_map: map } = await ask(client, { dish_get_obstruction_map: {} });
    expect(map).toMatchObject({ num_rows: 123, num_cols: 123, max_theta_deg: 80, map_reference_frame: 'FRAME_EARTH' });
    const geometry = { rows: 123, columns: 123, maxThetaDegrees: 80, frame: 'earth' } as const;
    const { row, column } = pixelOf(geometry, script.satellite(clock.utcMs())!)!;
    expect(map!.snr![Math.round(row) * 123 + Math.round(column)]).toBe(1);
    expect(map!.snr!.filter((value: number) => value === 1).length).toBeLessThanOrEqual(5);
    dish.reboot();
    clock.advance(0.5);
    const again = await ask(client, { dish_get_obstruction_map: {} });
    expect(again.dish_get_obstruction_map!.snr!.every((value: number) => value === -1)).toBe(true);
    const { dish_get_status } = await ask(client, { get_status: {} });
    // Zeros are omitted.
    expect(dish_get_status!.device_state).toEqual({});
  });

  test('reports its location only if allowed', async () => {
    const location = { latitudeDegrees: 48.1, longitudeDegrees: 11.6, altitudeMetres: 520 };
    const open = await start({ location });
    const { get_location } = await ask(open.client, { get_location: {} });
    expect(get_location!.lla).toEqual({ lat: 48.1, lon: 11.6, alt: 520 });
    const shut = await start();
    await expect(ask(shut.client, { get_location: {} })).rejects.toMatchObject({ code: status.PERMISSION_DENIED });
  });

  test('misbehaves on request', async () => {
    const { client, dish } = await start();
    dish.misbehave({ outage: 'SLEEPING' });
    const { dish_get_status } = await ask(client, { get_status: {} });
    expect(dish_get_status).toMatchObject({ outage: { cause: 'SLEEPING' }, pop_ping_drop_rate: 1 });
    expect(dish_get_status!.pop_ping_latency_ms).toBeUndefined();
    dish.misbehave({ failWith: status.UNAVAILABLE });
    await expect(ask(client, { get_status: {} })).rejects.toMatchObject({ code: status.UNAVAILABLE });
    dish.misbehave({ cutTo: 0.5 });
    await expect(ask(client, { get_status: {} })).rejects.toThrow();
    dish.misbehave({});
    expect((await ask(client, { get_status: {} })).dish_get_status).toBeDefined();
  });

  test('reports the fields that other clients read: alerts, GPS, power, obstructions', async () => {
    const { client, clock, dish } = await start();
    dish.misbehave({ outage: 'OBSTRUCTED' });
    clock.advance(4);
    dish.misbehave({});
    clock.advance(1);
    const { snr } = (await ask(client, { dish_get_obstruction_map: {} })).dish_get_obstruction_map!;
    const { dish_get_status } = await ask(client, { get_status: {} });
    const patches = snr!.filter((value: number) => value >= 0).length;
    expect(dish_get_status).toMatchObject({
      alerts: {},
      gps_stats: { gps_valid: true, gps_sats: expect.any(Number) },
      obstruction_stats: {
        valid_s: 5,
        patches_valid: patches,
        fraction_obstructed: expect.closeTo(snr!.filter((value: number) => value === 0).length / patches, 5),
      },
    });
    expect(dish_get_status!.outage).toBeUndefined();
    const { dish_get_history: history } = await ask(client, { get_history: {} });
    const { power_in, outages } = history;
    expect(power_in).toHaveLength(900);
    expect(Math.min(...power_in!)).toBeGreaterThan(20);
    expect(Math.max(...power_in!)).toBeLessThan(150);
    expect(outages!.at(-1)).toMatchObject({ cause: 'OBSTRUCTED', duration_ns: 4e9 });
    dish.misbehave({ outage: 'SLEEPING' });
    expect(await ask(client, { get_status: {} })).toMatchObject({
      dish_get_status: { alerts: { is_power_save_idle: true } },
    });
  });

  test('refuses unknown requests', async () => {
    const { client } = await start();
    await expect(ask(client, {})).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
  });

  test('does not follow steps of the system clock', async () => {
    const { client, clock } = await start();
    clock.leap(-7200);
    clock.advance(10);
    const { dish_get_history } = await ask(client, { get_history: {} });
    const { dish_get_status } = await ask(client, { get_status: {} });
    expect(dish_get_history!.current).toBe(3610);
    expect(dish_get_status!.device_state!.uptime_s).toBe(3610);
    const { dish_get_obstruction_map: map } = await ask(client, { dish_get_obstruction_map: {} });
    expect(map!.snr!.some((value: number) => value === 1)).toBe(true);
  });

  test.each(['grpc.reflection.v1', 'grpc.reflection.v1alpha'])('describes its whole API by %s', async (version) => {
    const { dish } = await start();
    const { defined, used } = await reflected(dish, version);
    expect([...used].filter((name) => !defined.has(name))).toEqual([]);
    // The best-known public client looks these up by name.
    for (const name of ['Device', 'Request', 'DishAlerts', 'DishOutage', 'DishGetStatusResponse']) {
      expect([...defined.keys()]).toContain(`SpaceX.API.Device.${name}`);
    }
    expect(defined.get('SpaceX.API.Device.DishGetStatusResponse')).toMatchObject({ pop_ping_latency_ms: 1009 });
  });
});

interface Described {
  name: string;
  field?: { name: string; number: number; type_name?: string }[];
  nested_type?: Described[];
  enum_type?: Described[];
  method?: { input_type: string; output_type: string }[];
}
interface DescribedFile {
  name: string;
  package: string;
  dependency?: string[];
  message_type?: Described[];
  enum_type?: Described[];
  service?: Described[];
}

/** Reads the API as a generic client does: lists the services, then requests their files and the files these import. */
async function reflected(dish: FakeDish, version: string) {
  const definitions = fromJSON(
    inPackage(version, {
      ServerReflection: {
        methods: {
          ServerReflectionInfo: { requestType: 'Q', requestStream: true, responseType: 'A', responseStream: true },
        },
      },
      Q: message({
        file_by_filename: [3, 'string'],
        file_containing_symbol: [4, 'string'],
        list_services: [7, 'string'],
      }),
      A: message({ file_descriptor_response: [4, 'F'], list_services_response: [6, 'L'], error_response: [7, 'E'] }),
      F: message({ file_descriptor_proto: [1, 'bytes[]'] }),
      L: message({ service: [1, 'S[]'] }),
      S: message({ name: [1, 'string'] }),
      E: message({ error_message: [2, 'string'] }),
      // Of google/protobuf/descriptor.proto.
      File: message({
        name: [1, 'string'],
        package: [2, 'string'],
        dependency: [3, 'string[]'],
        message_type: [4, 'Described[]'],
        enum_type: [5, 'Named[]'],
        service: [6, 'Service[]'],
      }),
      Described: message({
        name: [1, 'string'],
        field: [2, 'Field[]'],
        nested_type: [3, 'Described[]'],
        enum_type: [4, 'Named[]'],
      }),
      Field: message({ name: [1, 'string'], number: [3, 'int32'], type_name: [6, 'string'] }),
      Named: message({ name: [1, 'string'] }),
      Service: message({ name: [1, 'string'], method: [2, 'Method[]'] }),
      Method: message({ name: [1, 'string'], input_type: [2, 'string'], output_type: [3, 'string'] }),
    }) as Parameters<typeof fromJSON>[0],
    { keepCase: true },
  );
  const path = version
    .split('.')
    .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], loadPackageDefinition(definitions));
  // biome-ignore lint/suspicious/noExplicitAny: a client that gRPC makes at run time.
  const client = new (path as any).ServerReflection(dish.address, credentials.createInsecure());
  opened.push(client);
  const stream = client.ServerReflectionInfo();
  const answerTo = (question: object) =>
    // biome-ignore lint/suspicious/noExplicitAny: the same.
    new Promise<any>((resolve, reject) => {
      stream.once('data', resolve).once('error', reject);
      stream.write(question);
    });
  const file = definitions[`${version}.File`] as unknown as MessageTypeDefinition<object, DescribedFile>;
  const { list_services_response } = await answerTo({ list_services: '*' });
  const questions: object[] = list_services_response.service
    .map(({ name }: { name: string }) => name)
    .filter((name: string) => name.startsWith('SpaceX'))
    .map((name: string) => ({ file_containing_symbol: name }));
  const files = new Map<string, DescribedFile>();
  for (let question = questions.pop(); question !== undefined; question = questions.pop()) {
    const { file_descriptor_response, error_response } = await answerTo(question);
    expect(error_response).toBeUndefined();
    for (const bytes of file_descriptor_response.file_descriptor_proto) {
      const one = file.deserialize(bytes);
      if (files.has(one.name)) continue;
      files.set(one.name, one);
      questions.push(...(one.dependency ?? []).map((name) => ({ file_by_filename: name })));
    }
  }
  stream.end();
  return namesIn([...files.values()]);
}

/** The full names that are defined, with their field numbers, and the full names that fields and methods use. */
function namesIn(files: readonly DescribedFile[]) {
  const defined = new Map<string, Record<string, number>>();
  const used: { from: string; name: string }[] = [];
  const walk = (scope: string, one: Described) => {
    const name = `${scope}.${one.name}`;
    defined.set(name, Object.fromEntries((one.field ?? []).map((field) => [field.name, field.number])));
    for (const { type_name } of one.field ?? []) if (type_name) used.push({ from: name, name: type_name });
    for (const { input_type, output_type } of one.method ?? []) {
      used.push({ from: name, name: input_type }, { from: name, name: output_type });
    }
    for (const inner of [...(one.nested_type ?? []), ...(one.enum_type ?? [])]) walk(name, inner);
  };
  for (const { package: scope, message_type = [], enum_type = [], service = [] } of files) {
    for (const one of [...message_type, ...enum_type, ...service]) walk(scope, one);
  }
  /** Resolves a relative name from the innermost scope outwards. */
  const resolved = ({ from, name }: { from: string; name: string }): string => {
    if (name.startsWith('.')) return name.slice(1);
    for (let scope = from; scope !== ''; scope = scope.slice(0, Math.max(0, scope.lastIndexOf('.')))) {
      if (defined.has(`${scope}.${name}`)) return `${scope}.${name}`;
    }
    return name;
  };
  return { defined, used: new Set(used.map(resolved)) };
}

describe('the script of a simulated dish', () => {
  test('depends on the seed and the time only', () => {
    const atMs = Date.UTC(2026, 0, 1, 12, 0, 13);
    expect(syntheticDish({ seed: 7 }).at(atMs)).toEqual(syntheticDish({ seed: 7 }).at(atMs));
    expect(syntheticDish({ seed: 7 }).at(atMs)).not.toEqual(syntheticDish({ seed: 8 }).at(atMs));
  });

  test('has a base latency per epoch and occasional outages', () => {
    const dish = syntheticDish({ seed: 3 });
    const start = Date.UTC(2026, 0, 1, 12, 0, 12);
    let obstructed = 0;
    for (let epoch = 0; epoch < 400; epoch++) {
      const seconds = Array.from({ length: 15 }, (_, i) => dish.at(start + epoch * 15_000 + (i + 1) * 1000));
      const levels = seconds.slice(1).flatMap(({ latencyMs }) => latencyMs ?? []);
      expect(Math.max(...levels) - Math.min(...levels)).toBeLessThan(4.01);
      if (seconds.some((second) => second.obstructed)) obstructed++;
      for (const { latencyMs } of seconds) if (latencyMs !== undefined) expect(latencyMs).toBeGreaterThan(15);
    }
    expect(obstructed).toBeGreaterThan(2);
    expect(obstructed).toBeLessThan(40);
  });

  test('limits the usage to the capacity of a trace, in phase', () => {
    const startUtcMs = Date.UTC(2026, 0, 1, 12, 0, 12);
    const capacity = {
      startUtcMs,
      wrapSeconds: 30,
      stepEndsSeconds: [15, 30],
      ratesBps: [2e7, 9e7],
      rttSeconds: [0.05, 0.03],
    };
    const dish = syntheticDish({ seed: 5, capacity });
    for (const [seconds, rate, latency] of [
      [1, 2e7, 50],
      [16, 9e7, 30],
      [31, 2e7, 50],
      [-14, 9e7, 30],
    ] as const) {
      const second = dish.at(startUtcMs + seconds * 1000);
      expect(second.downlinkUsageBps).toBeLessThanOrEqual(rate);
      if (!second.obstructed) expect(second.latencyMs).toBe(latency);
    }
  });
});
