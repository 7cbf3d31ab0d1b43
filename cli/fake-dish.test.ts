import { createServer } from 'node:net';
import { expect, jest, test } from '@jest/globals';
import { newDeviceClient, type RawResponse } from '../service/dish/device-api.ts';
import { runListening } from './serve-run.fixture.ts';

// The first test loads the whole service, which takes seconds on a busy machine.
jest.setTimeout(60_000);

test('answers like a dish until it is interrupted', async () => {
  const { status } = await runListening(['fake-dish', '--port', '0', '--trace', 'stationary-hard'], async (address) => {
    const client = newDeviceClient(address, {});
    const response = await new Promise<RawResponse>((resolve, reject) => {
      client.Handle({ get_status: {} }, { deadline: Date.now() + 5000 }, (error, answer) =>
        error === null ? resolve(answer!) : reject(error),
      );
    });
    expect(response.dish_get_status).toMatchObject({ device_info: { hardware_version: 'fake1_proto1' } });
    client.close();
  });
  expect(status).toBe(0);
});

test.each<[string, string[], string]>([
  ['an unknown trace', ['--trace', 'tea'], '--trace: expected a trace file, or one of'],
  ['a trace file that is missing', ['--trace', './none.csv'], './none.csv: expected a file or folder'],
  ['a seed', ['--seed', 'x'], '--seed: expected a whole number from 0 to 999999999, got "x"'],
  ['a place', ['--location', '91,0'], '--location: expected degrees north, degrees east'],
])('refuses %s', async (_, flags, message) => {
  const { status, stderr } = await runListening(['fake-dish', '--port', '0', ...flags]);
  expect(stderr).toContain(message);
  expect(status).toBe(2);
});

test('a port that is taken is wrong input', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const { status, stderr } = await runListening(['fake-dish', '--port', String(port)]);
  expect(stderr).toContain('--port: expected a free port of this machine, got "127.0.0.1');
  expect(status).toBe(2);
  server.close();
});
