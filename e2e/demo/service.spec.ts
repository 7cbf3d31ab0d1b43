/** The demo page with a prediction service: the real one, with a simulated dish, in this process. */

import { createServer as createHttpServer, type RequestListener, request as send } from 'node:http';
import { createServer } from 'node:net';
import type { Page } from '@playwright/test';
import { runCommand } from '../../cli/command.ts';
import { test as base, expect, untilPlayed } from './demo-test.ts';

interface RunningServe {
  url: string;
  stop(): Promise<void>;
}

/** Runs `leo-abr serve --dish simulated` on this port. */
async function serve(port: number): Promise<RunningServe> {
  let interrupt = () => {};
  let output = '';
  let ready: (url: string) => void = () => {};
  const listening = new Promise<string>((resolve) => {
    ready = resolve;
  });
  const done = runCommand(['serve', '--dish', 'simulated', '--port', String(port)], {
    stdout: { write() {} },
    stderr: {
      write(text) {
        output += text;
        const url = / is at ([^\s"]+)/.exec(output)?.[1];
        if (url !== undefined) ready(url);
      },
    },
    defaultJobs: 1,
    onInterrupt(callback) {
      interrupt = callback;
      return () => {};
    },
  });
  const failed = done.then((status) => {
    throw new Error(`leo-abr serve ended with ${status}: ${output}`);
  });
  failed.catch(() => {});
  return {
    url: await Promise.race([listening, failed]),
    async stop() {
      interrupt();
      await done;
    },
  };
}

/** A free port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A service that always forecasts 10 Gbit/s. */
function overstatingService(): Promise<RunningServe> {
  const forecast = () => ({
    issuedAtMs: Date.now(),
    source: 'service',
    stepEndsSeconds: [0.5, 1, 2, 4],
    levels: [0.1, 0.5, 0.9],
    quantilesBps: Array.from({ length: 4 }, () => [9e9, 10e9, 11e9]),
    rankCorrelation: 0.5,
    handovers: [],
  });
  return listen((request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', '*');
    const send = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ serverUtcMs: Date.now(), ...data })}\n\n`);
    if (request.url!.startsWith('/v1/events')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      send('hello', {});
      const timer = setInterval(() => send('forecast', { forecast: forecast() }), 500);
      response.once('close', () => clearInterval(timer));
    } else response.end(JSON.stringify({ serverUtcMs: Date.now(), share: 1, dish: { state: 'unused' } }));
  });
}

/** A proxy to a service, for requests with another Origin. */
function withOrigin(origin: string, { url }: RunningServe): Promise<RunningServe> {
  return listen((request, response) => {
    const { method, headers, url: path } = request;
    const forwarded = { ...headers, ...(headers.origin !== undefined && { origin }) };
    const onward = send(`${url}${path}`, { method, headers: forwarded }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
}

async function listen(answer: RequestListener): Promise<RunningServe> {
  const server = createHttpServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A page whose requests may fail, but whose scripts may not. */
const test = base.extend<{ openLossy(query: string): Promise<Page> }>({
  openLossy: async ({ demo, page }, use) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.stack ?? error.message));
    await use(async (query) => {
      await page.goto(`${demo.url}${query}`);
      return page;
    });
    expect(errors, 'errors of the page').toEqual([]);
  },
});

// The link of the simulated dish at its own rates: from reports of another link, the service would forecast that one.
const PLAY = '?players=mpc-l&trace=stationary-typical&scenario=hd-16&start=0';

const field = (page: Page) => page.getByRole('textbox', { name: 'Prediction service' });
const state = (page: Page) => page.locator('#service-state');
const details = (page: Page) => page.locator('#service-details');
const decision = (page: Page) => page.getByRole('region', { name: 'Decisions of MPC-L' });
const parameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

test('MPC-L uses the forecasts of a service, its own while the service is lost, and notices its return', async ({
  openLossy,
}) => {
  // Both take time: a forecast is used once no observation contradicts it, at the latest when the buffer is full and
  // downloads pause; the client retries a lost service after growing pauses.
  test.setTimeout(220_000);
  const port = await freePort();
  let service = await serve(port);
  try {
    const page = await openLossy(PLAY);
    await expect(state(page)).toHaveText('None');
    await field(page).fill(`127.0.0.1:${port}`);
    await field(page).press('Enter');
    await expect(field(page)).toHaveValue(service.url);
    expect(parameter(page, 'service')).toBe(service.url);
    await expect(state(page)).toHaveText('Connected');
    await expect(details(page)).toContainText('dish online');
    await expect(details(page)).toContainText(/forecast \d s old/);
    await expect(decision(page)).toContainText('forecast “service”', { timeout: 100_000 });

    await service.stop();
    await expect(state(page)).toHaveText('Lost', { timeout: 20_000 });
    await expect(decision(page)).toContainText('forecast “built-in”', { timeout: 20_000 });
    const played = await page.locator('video').evaluate((video) => (video as HTMLVideoElement).currentTime);

    service = await serve(port);
    await expect(state(page)).toHaveText('Connected again', { timeout: 45_000 });
    await untilPlayed(page, played + 1);
    await expect(page.locator('.player .fault')).toBeHidden();
  } finally {
    await service.stop();
  }
});

test('the status says why a server refuses the page or is no service; an invalid address is rejected', async ({
  openLossy,
  demo,
}) => {
  const service = await serve(await freePort());
  const elsewhere = await withOrigin('https://player.example', service);
  try {
    const page = await openLossy(`${PLAY}&risk=0.5&service=${service.url}`);
    await expect(state(page)).toHaveText('Connected');
    const risk = page.getByRole('spinbutton', { name: 'risk' });
    await expect(risk).toHaveValue('0.5');
    await risk.fill('2');
    await risk.press('Enter');
    expect(parameter(page, 'risk')).toBe('0.5');
    await risk.fill('0');
    await risk.press('Enter');
    expect(parameter(page, 'risk')).toBe('0');
    expect(parameter(page, 'service')).toBe(service.url);

    await field(page).fill(elsewhere.url);
    await field(page).press('Enter');
    await expect(state(page)).toHaveText('Refused');
    await expect(details(page)).toContainText(`--allow-origin ${new URL(demo.url).origin}`);

    await field(page).fill('ftp://dish');
    await field(page).press('Enter');
    await expect(field(page)).toHaveAttribute('aria-invalid', 'true');
    expect(parameter(page, 'service')).toBe(elsewhere.url);
    // The demo's own server allows the page but is no prediction service.
    await field(page).fill(demo.url);
    await field(page).press('Enter');
    await expect(state(page)).toHaveText('Not a prediction service');
    await field(page).fill('');
    await field(page).press('Enter');
    await expect(state(page)).toHaveText('None');
    expect(parameter(page, 'service')).toBeNull();
    await untilPlayed(page, 1);
  } finally {
    await elsewhere.stop();
    await service.stop();
  }
});

test('forecasts of a service that do not come true are ignored', async ({ openLossy }) => {
  // Not before the session has downloaded for 20 s.
  test.setTimeout(120_000);
  const service = await overstatingService();
  try {
    const page = await openLossy(`${PLAY}&service=${service.url}`);
    await expect(state(page)).toHaveText('Not believed', { timeout: 60_000 });
    await expect(details(page)).toContainText('did not come true');
    await expect(decision(page)).toContainText('forecast “built-in”', { timeout: 15_000 });
  } finally {
    await service.stop();
  }
});
