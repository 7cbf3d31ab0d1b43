/** The demo page with a lane's choice of forecasts: the real prediction service on the replayed link. */

import { expect, openSettings, test } from './demo-test.ts';

test('the service on the replayed link is used, and ends with the run; so does another risk', async ({ open }) => {
  test.setTimeout(120_000);
  const page = await open('?players=mpc-l&trace=stationary-typical&scenario=hd-16&start=0&risk=0.5');
  const parameter = (name: string) => new URL(page.url()).searchParams.get(name);
  const lane = page.getByRole('article', { name: 'Player 1' });
  await openSettings(page);
  const risk = page.getByRole('spinbutton', { name: 'risk' });
  await expect(risk).toHaveValue('0.5');
  for (const [typed, used] of [
    ['2', '0.5'],
    ['0', '0'],
  ]) {
    await risk.fill(typed!);
    await risk.press('Enter');
    expect(parameter('risk')).toBe(used);
  }

  const asked = page.waitForRequest(/\/v1\/forecast/);
  await lane.getByText('How it plays').click();
  await page.getByRole('combobox', { name: 'Forecasts of player 1' }).selectOption('a service on this link');
  expect([parameter('players'), parameter('risk')]).toEqual(['mpc-l@service', '0']);
  const service = new URL((await asked).url()).origin;
  // Where the host stood still, the player measures another link than the service forecasts.
  await expect(lane).toContainText(/Used, the newest \d+ s old|Not believed/, { timeout: 60_000 });
  if (!((await lane.textContent()) ?? '').includes('Not believed')) {
    await expect(lane).toContainText(/service, \d\.\d\ss old: next|Not believed/, { timeout: 60_000 });
  }
  const answers = () =>
    fetch(`${service}/v1/state`).then(
      () => true,
      () => false,
    );
  expect(await answers()).toBe(true);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(answers).toBe(false);
});
