/** A lane of the demo page chooses its forecasts: the real prediction service on the replayed link, or an ONNX model. */

import { expect, expectNoAxeViolations, test } from './demo-test.ts';

test('the service on the replayed link is used, and ends with the run', async ({ open }) => {
  test.setTimeout(120_000);
  const page = await open('?players=mpc-l&trace=stationary-typical&scenario=hd-16&start=0');
  const lane = page.getByRole('article', { name: 'Player 1' });
  const asked = page.waitForRequest(/\/v1\/forecast/);
  await lane.getByText('How it plays').click();
  await page.getByRole('combobox', { name: 'Forecasts of player 1' }).selectOption('a service on this link');
  expect(new URL(page.url()).searchParams.get('players')).toBe('mpc-l@service');
  const service = new URL((await asked).url()).origin;
  // After a pause of the host, the player measures another link than the service forecasts.
  await expect(lane).toContainText(/Used \(newest: \d+ s old\)|Not believed/, { timeout: 60_000 });
  if (!((await lane.textContent()) ?? '').includes('Not believed')) {
    await expect(lane).toContainText(/service, \d\.\d\ss old: .* next|Not believed/, { timeout: 60_000 });
  }
  const answers = async () => (await fetch(`${service}/v1/state`).catch(() => undefined)) !== undefined;
  expect(await answers()).toBe(true);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(answers).toBe(false);
});

test('a lane plans on an ONNX model', async ({ open }) => {
  test.setTimeout(120_000);
  const page = await open('?players=mpc-l@onnx,mpc-d&trace=stationary-typical&scenario=hd-16&start=0');
  const lane = page.getByRole('article', { name: 'Player 1' });
  await lane.getByText('How it plays').click();
  const forecasts = page.getByRole('combobox', { name: 'Forecasts of player 1' });
  await expect(forecasts).toHaveValue('mpc-l@onnx');
  await expect(page.getByRole('combobox', { name: 'Forecasts of player 2' })).toBeHidden();
  await expect(lane).toContainText(/model:leo-abr built-in \d+, 0\.\d\ss old: .* next/, { timeout: 60_000 });
  await expectNoAxeViolations(page);
});
