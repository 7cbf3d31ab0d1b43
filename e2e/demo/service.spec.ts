/** The demo page with the prediction service on the replayed link, the real one. */

import { expect, openDecisions, openSettings, test } from './demo-test.ts';

test('the service on the replayed link is used, and ends with the run; so does another risk', async ({ open }) => {
  test.setTimeout(120_000);
  const page = await open('?players=mpc-l&trace=stationary-typical&scenario=hd-16&start=0&risk=0.5');
  const parameter = (name: string) => new URL(page.url()).searchParams.get(name);
  const state = page.locator('#service-state');
  await expect(state).toHaveText('None');
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
  await page.getByRole('combobox', { name: 'Prediction service' }).selectOption('one on this link');
  expect([parameter('service'), parameter('risk')]).toEqual(['link', '0']);
  const service = new URL((await asked).url()).origin;
  await expect(state).toHaveText('Used', { timeout: 30_000 });
  await expect(page.locator('#service-details')).toContainText('beside a simulated dish on the replayed link');
  await openDecisions(page);
  const decision = page.getByRole('region', { name: 'Decisions of MPC-L' });
  await expect(decision).toContainText('forecast “service”', { timeout: 60_000 });
  const answers = () =>
    fetch(`${service}/v1/state`).then(
      () => true,
      () => false,
    );
  expect(await answers()).toBe(true);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(answers).toBe(false);
  await expect(state).toHaveText('Not asked');
});
