/** The demo page with a prediction service: the real one. */

import { createServer as createHttpServer, type RequestListener, request as send } from 'node:http';
import type { Page } from '@playwright/test';
import type { ForecastReply } from '../../service/api/wire.ts';
import { REAL_CLOCK, type RunningService, startService, startServiceOnLink } from '../../service/index.ts';
import { test as base, expect, untilPlayed } from './demo-test.ts';

interface Proxy {
  url: string;
  stop(): Promise<void>;
}

/** A proxy to a service, for requests with another Origin. */
function withOrigin(origin: string, { url }: RunningService): Promise<Proxy> {
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

async function listen(answer: RequestListener): Promise<Proxy> {
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

const PLAY = '?players=mpc-l&trace=stationary-typical&scenario=hd-16&start=0';

const choice = (page: Page) => page.getByRole('combobox', { name: 'Prediction service' });
const address = (page: Page) => page.getByRole('textbox', { name: 'Address of the service' });
const state = (page: Page) => page.locator('#service-state');
const details = (page: Page) => page.locator('#service-details');
const decision = (page: Page) => page.getByRole('region', { name: 'Decisions of MPC-L' });
const parameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

async function enter(page: Page, text: string): Promise<void> {
  await address(page).fill(text);
  await address(page).press('Enter');
}

test('the service on the replayed link is used, and ends with the run', async ({ openLossy }) => {
  test.setTimeout(120_000);
  const page = await openLossy(PLAY);
  await expect(state(page)).toHaveText('None');
  const events = page.waitForRequest(/\/v1\/events/);
  await choice(page).selectOption('one on this link');
  expect(parameter(page, 'service')).toBe('link');
  const service = new URL((await events).url()).origin;
  await expect(state(page)).toHaveText(/^Used/, { timeout: 30_000 });
  await expect(details(page)).toContainText('beside a simulated dish on the replayed link');
  await expect(decision(page)).toContainText('forecast “service”', { timeout: 60_000 });
  const answers = () =>
    fetch(`${service}/v1/state`).then(
      () => true,
      () => false,
    );
  expect(await answers()).toBe(true);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(answers).toBe(false);
});

test('a service of another link is not used, and the page says so', async ({ openLossy }) => {
  // A dish whose link has always 900 Mbit/s, nine times as much as the replayed one.
  const capacity = { startUtcMs: 0, wrapSeconds: 15, stepEndsSeconds: [15], ratesBps: [900e6] };
  const service = await startServiceOnLink(capacity, { version: '0', clock: REAL_CLOCK });
  try {
    const forecast = async () => ((await (await fetch(`${service.url}/v1/forecast`)).json()) as ForecastReply).forecast;
    // The household of the simulated dish downloads for 40 s of every 2 minutes.
    test.setTimeout(180_000);
    await expect.poll(forecast, { timeout: 100_000 }).not.toBeNull();
    const page = await openLossy(`${PLAY}&service=${service.url}`);
    await expect(choice(page)).toHaveValue('address');
    await expect(address(page)).toHaveValue(service.url);
    await expect(state(page)).toHaveText('Another link', { timeout: 30_000 });
    await expect(details(page)).toContainText(`does not fit what MPC-L measures (${service.url})`);
    await expect(decision(page)).toContainText('forecast “built-in”', { timeout: 15_000 });
    await page.locator('.decision summary').click();
    await expect(page.locator('.decision ol')).not.toContainText('service');
  } finally {
    await service.close();
  }
});

test('MPC-L uses its own forecasts while a service is lost, and notices its return', async ({ openLossy }) => {
  test.setTimeout(180_000);
  let service = await startService({ version: '0', port: 0 });
  const { port, url } = service;
  try {
    const page = await openLossy(PLAY);
    await expect(state(page)).toHaveText('None');
    await choice(page).selectOption('at an address…');
    await enter(page, `127.0.0.1:${port}`);
    await expect(address(page)).toHaveValue(url);
    expect(parameter(page, 'service')).toBe(url);
    await expect(decision(page)).toContainText('forecast “service”', { timeout: 60_000 });
    await service.close();
    await expect(state(page)).toHaveText('No answer', { timeout: 20_000 });
    await expect(decision(page)).toContainText('forecast “built-in”', { timeout: 20_000 });
    const played = await page.locator('video').evaluate((video) => (video as HTMLVideoElement).currentTime);
    service = await startService({ version: '0', port });
    await expect(state(page)).not.toHaveText('No answer', { timeout: 60_000 });
    await untilPlayed(page, played + 1);
    await expect(page.locator('.player .fault')).toBeHidden();
  } finally {
    await service.close();
  }
});

test('the status says what a service that refuses the page needs; an invalid address is rejected', async ({
  openLossy,
  demo,
}) => {
  const service = await startService({ version: '0', port: 0 });
  const elsewhere = await withOrigin('https://player.example', service);
  try {
    const page = await openLossy(`${PLAY}&risk=0.5&service=${service.url}`);
    const risk = page.getByRole('spinbutton', { name: 'risk' });
    await expect(risk).toHaveValue('0.5');
    await risk.fill('2');
    await risk.press('Enter');
    expect(parameter(page, 'risk')).toBe('0.5');
    await risk.fill('0');
    await risk.press('Enter');
    expect(parameter(page, 'risk')).toBe('0');
    expect(parameter(page, 'service')).toBe(service.url);

    await enter(page, elsewhere.url);
    await expect(state(page)).toHaveText('No answer', { timeout: 20_000 });
    await expect(details(page)).toContainText(`--allow-origin ${new URL(demo.url).origin}`);

    await enter(page, 'ftp://dish');
    await expect(address(page)).toHaveAttribute('aria-invalid', 'true');
    expect(parameter(page, 'service')).toBe(elsewhere.url);
    await choice(page).selectOption('none');
    await expect(state(page)).toHaveText('None');
    await expect(address(page)).toBeHidden();
    expect(parameter(page, 'service')).toBeNull();
    await untilPlayed(page, 1);
  } finally {
    await elsewhere.stop();
    await service.close();
  }
});
