/** The demo page in a real browser, over the real origin. */

import type { Page } from '@playwright/test';
import { SCENARIOS } from '../../replay/scenarios.ts';
import {
  atBothSizes,
  expect,
  expectNoAxeViolations,
  openDecisions,
  openSettings,
  startDemo,
  test,
  untilPlayed,
} from './demo-test.ts';

/** Width of the film by representation. */
const WIDTHS = [192, 256, 384, 512, 576, 640];
const LADDER_BPS = SCENARIOS['hd-16']!.ladderBps;

/** This link always carries the top of the ladder, so that the representation on screen soon changes. */
const CALM = '?players=mpc-d&trace=stationary-calm&scenario=hd-16&start=0';

/** A player's figures: freezes, mean quality, data, current bitrate, and time behind live or startup delay. */
const FIGURES = [
  ...[/^never$|^\d+\.\d+\ss$/, /^\d+ of 100$/, /^[\d.]+\s[MG]B, [\d.]+\s[MG]B\/h$/],
  ...[/^[\d.]+\sMbit\/s$/, /^\d+\.\d\ss$/],
];

const player = (page: Page, number: number) => page.getByRole('article', { name: `Player ${number}` });

/** Each player shows the picture of the bitrate in its figures. The figures follow within a quarter of a second. */
async function expectStatedPictures(page: Page): Promise<void> {
  const shownAndStated = () =>
    page.getByRole('article').evaluateAll((articles) =>
      articles.map((article) => {
        const { videoWidth } = article.querySelector('video')!;
        const stated = article.querySelectorAll('dd')[3]!.textContent!;
        return [videoWidth, Number.parseFloat(stated) * 1e6] as const;
      }),
    );
  await expect(async () => {
    for (const [width, bps] of await shownAndStated()) expect(width).toBe(WIDTHS[LADDER_BPS.indexOf(bps)]);
  }).toPass();
}

/** Every lane of the timeline shows a drawing. */
async function expectDrawnLanes(page: Page, lanes: number): Promise<void> {
  const colours = await page.locator('.lane canvas').evaluateAll((canvases) =>
    (canvases as HTMLCanvasElement[]).map((canvas) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      const opaque = new Uint32Array(data.buffer).filter((pixel) => pixel >>> 24 > 0);
      return new Set(opaque.map((pixel) => pixel & 0xffffff)).size;
    }),
  );
  expect(colours).toHaveLength(lanes);
  for (const count of colours) expect(count).toBeGreaterThan(5);
}

test('each lane has its player, which plays, decides and is measured, live and on demand', async ({ open, page }) => {
  const requests: URL[] = [];
  page.on('request', (request) => requests.push(new URL(request.url())));
  const loaded = () =>
    ['dash', 'hls', 'shaka'].map((one) => requests.some(({ pathname }) => pathname.includes(`/${one}-player`)));
  await open(CALM);
  await untilPlayed(page, 1);
  expect(loaded()).toEqual([true, false, false]);

  await open(CALM.replace('mpc-d', 'mpc-o,mpc-l@hls,mpc-d@shaka,hls@hls').replace('hd-16', 'live-hd-3'));
  // Playback joins close to the encoder, 20 s into the stream.
  await untilPlayed(page, 20);
  expect(loaded()).toEqual([true, true, true]);
  const videos = page.locator('video');
  expect(await videos.evaluateAll((all) => all.every((one) => (one as HTMLVideoElement).muted))).toBe(true);
  const titles = [/^Frozen/, /^Picture quality/, /^Link/];
  await expect(page.locator('.lane h3')).toHaveText([...titles, 'Behind live (s); aim: 3']);
  const expectFigures = async () => {
    for (const number of [1, 2, 3, 4]) {
      await expect(player(page, number).getByRole('definition')).toHaveText(FIGURES);
    }
  };
  await expectFigures();
  await page.getByRole('button', { name: 'Stop' }).click();
  await expectDrawnLanes(page, 4);

  await openSettings(page);
  await page.getByRole('combobox', { name: 'Stream' }).selectOption('hd-16');
  await expect(page.locator('.lane h3')).toHaveText([...titles, 'Buffer (s)']);
  // Two segments have been on screen, more are in the buffer.
  await untilPlayed(page, 6);
  await expectFigures();
  await page.getByRole('button', { name: 'Stop' }).click();
  await openDecisions(page);
  await expectStatedPictures(page);
  const names = ['MPC-O', 'leo-abr in hls.js', 'MPC-D in Shaka', 'hls.js alone'];
  for (const [i, name] of names.entries()) {
    await expect(player(page, i + 1)).toHaveAccessibleName(`Player ${i + 1}: ${name}`);
    const decisions = page.getByRole('region', { name: `Decisions of ${name}`, exact: true });
    await expect(decisions.locator('.when')).toHaveText(/segment \d+/);
    await expect(decisions.locator('.reason')).toHaveText(
      i === 3 ? /^hls\.js gives no reason; it estimates [\d.]+ Mbit/ : /\d/,
    );
  }
  await expectDrawnLanes(page, 4);
  // The page asks no time server but the origin.
  for (const { hostname } of requests) expect(['localhost', '127.0.0.1', '']).toContain(hostname);
});

test('each choice restarts the players and changes the address, which opens the same view', async ({ open }) => {
  const page = await open(CALM);
  const parameter = (name: string) => new URL(page.url()).searchParams.get(name);
  const choice = (name: string) => page.getByRole('combobox', { name });
  const algorithm = choice('Algorithm of player 1');
  const library = choice('Library of player 1');
  await player(page, 1).getByText('How it plays').click();
  await library.selectOption('Shaka');
  expect(parameter('players')).toBe('mpc-d@shaka');
  await untilPlayed(page, 0.5);
  await library.selectOption('dash.js');
  await algorithm.selectOption({ label: 'dash.js alone' });
  expect(parameter('players')).toBe('dynamic');
  await expect(player(page, 1)).toHaveAccessibleName('Player 1: dash.js alone');

  await openSettings(page);
  await choice('Link').selectOption('driving-country');
  await choice('Stream').selectOption('pensieve-60');
  await page.getByRole('spinbutton', { name: 'Start' }).fill('30');
  await page.getByRole('spinbutton', { name: 'Start' }).press('Enter');
  expect(['trace', 'scenario', 'start'].map(parameter)).toEqual(['driving-country', 'pensieve-60', '30']);
  await untilPlayed(page, 1);
  // If dash.js decides, the page shows dash.js's reasons.
  await openDecisions(page);
  await expect(page.getByRole('region', { name: 'Decisions of dash.js alone' })).toContainText(/segment \d+/);

  // The address gives the same view.
  await page.goto(page.url());
  await untilPlayed(page, 0.5);
  await openSettings(page);
  await expect(choice('Link')).toHaveValue('driving-country');
  await expect(page.getByRole('spinbutton', { name: 'Start' })).toHaveValue('30');
  await expect(algorithm).toHaveValue('dynamic');

  await player(page, 1).getByText('How it plays').click();
  await library.selectOption('hls.js');
  expect(parameter('players')).toBe('hls@hls');
  await expect(algorithm.getByRole('option', { name: 'dash.js alone' })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Remove player 1' })).toBeHidden();
  await page.getByRole('button', { name: 'Add player' }).click();
  await expect(page.getByRole('article')).toHaveCount(2);
  await untilPlayed(page, 0.5);
  await page.getByRole('button', { name: 'Remove player 1' }).click();
  await expect(page.getByRole('article')).toHaveCount(1);
  expect(parameter('players')).not.toContain('hls');
  await untilPlayed(page, 0.5);

  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(player(page, 1)).toContainText('stopped');
  expect(await page.locator('video').evaluate((video) => (video as HTMLVideoElement).paused)).toBe(true);
  await page.getByRole('button', { name: 'Start again' }).click();
  await expect(player(page, 1)).toContainText('playing');
});

test('a start that is overtaken plays nothing; one that fails can be tried again', async ({ open, page }) => {
  await open('?players=mpc-d@shaka,mpc-d&trace=stationary-calm&scenario=hd-16&start=0');
  const restart = page.getByRole('button', { name: 'Start again' });
  // The restarts come before, during and after the start of the players.
  for (const pauseMs of [0, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80]) {
    await restart.click();
    await page.waitForTimeout(pauseMs);
  }
  await restart.click();
  await untilPlayed(page, 1);
  for (const number of [1, 2]) await expect(player(page, number)).toContainText('playing');
  // The players request media of the last start's sessions only.
  const asked = new Set<string>();
  page.on('request', (request) => asked.add(/session\/\d+\/(?=.*m4s)/.exec(request.url())?.[0] ?? ''));
  await untilPlayed(page, 5);
  asked.delete('');
  expect(asked.size).toBeLessThanOrEqual(2);

  const second = page.locator('video').nth(1);
  await second.evaluate((video) => {
    video.setAttribute = () => {
      throw new Error('no picture');
    };
  });
  await restart.click();
  await expect(page.getByRole('alert')).toContainText('The players cannot start: no picture.');
  const sources = page.locator('video').evaluateAll((all) => all.map((video) => video.getAttribute('src') ?? ''));
  expect(await sources).toEqual(['', '']);
  await second.evaluate((video) => Reflect.deleteProperty(video, 'setAttribute'));
  await page.getByRole('button', { name: 'Try again' }).click();
  await untilPlayed(page, 1);
});

test('every moment can be shown by pointer and keyboard, with its decision', async ({ open }) => {
  const page = await open(CALM);
  await untilPlayed(page, 2);
  await page.getByRole('button', { name: 'Stop' }).click();
  const reading = page.locator('#reading');
  const scrubber = page.getByRole('slider', { name: 'Moment to read' });

  const box = (await page.locator('.lane .u-over').first().boundingBox())!;
  await page.mouse.click(box.x + 2, box.y + 20);
  await expect(reading).toHaveText(/^0:00: /);
  await expect(page.locator('.moment')).toBeVisible();

  await scrubber.focus();
  await page.keyboard.press('Home');
  await expect(scrubber).toHaveAttribute('aria-valuetext', /^0:00: link \d+ Mbit\/s; MPC-D starting/);
  await page.keyboard.press('ArrowRight');
  await expect(scrubber).toHaveValue('0.25');

  const live = page.getByRole('button', { name: 'Back to now' });
  await live.click();
  await expect(live).toBeHidden();
  await expect(reading).not.toHaveText(/^0:00: /);

  await openDecisions(page);
  const decisions = page.getByRole('region', { name: 'Decisions of MPC-D' });
  await expect(decisions).toContainText(/planned on \d+ Mbit\/s/);
  await scrubber.focus();
  await page.keyboard.press('Home');
  await expect(live).toBeVisible();
  await expect(decisions).toContainText('segment 1: begins at 1 Mbit/s');
  await expect(decisions).toContainText('nothing measured yet');
});

test("an invalid address and an invalid trace are reported; the viewer's own trace is replayed", async ({ open }) => {
  const page = await open('?players=mpc-x&trace=nowhere&scenario=8k&start=-1');
  const alert = page.getByRole('alert');
  for (const wrong of ['mpc-x', 'nowhere', '8k', '-1']) await expect(alert).toContainText(`“${wrong}”`);
  await untilPlayed(page, 0.5);
  await alert.getByRole('button', { name: 'Dismiss' }).click();
  await expect(alert).toBeEmpty();
  const rows = (mbps: string) =>
    `time_s,throughput_mbps\n${Array.from({ length: 120 }, (_, i) => `${i},${i === 60 ? mbps : 90}`).join('\n')}\n`;
  const drop = (name: string, text: string) =>
    page.evaluate(
      ([name, text]) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([text!], name!));
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      },
      [name, text],
    );
  await drop('roof.csv', rows('-5'));
  await expect(alert).toContainText('roof.csv:62: throughput_mbps: expected a rate in Mbit/s');
  expect(new URL(page.url()).searchParams.get('trace')).not.toBe('roof');

  const file = { name: 'roof.csv', mimeType: 'text/csv', buffer: Buffer.from(rows('5')) };
  await page.getByLabel('Trace files').setInputFiles(file);
  await openSettings(page);
  await expect(page.getByRole('combobox', { name: 'Link' })).toHaveValue('roof');
  await expect(alert).toContainText('no clock');
  await untilPlayed(page, 0.5);
  // As recorded, without the headers: the scenario scales shipped links alone.
  await expect(page.locator('#reading')).toHaveText(/^\d:\d\d: link 86 Mbit/);
  await expect(alert).toContainText('roof: The link plays as recorded. Headers take 5 % of its rate. After 2:00 it');
  await drop('short.csv', 'time_s,throughput_mbps\n0,10\n1,20\n2,15\n');
  await expect(alert).toContainText('short: expected a trace of 48 s or more');
  expect(new URL(page.url()).searchParams.get('trace')).toBe('roof');
});

test('fits a phone; settings unfold; passes axe, light and dark', async ({ page, open }) => {
  test.setTimeout(120_000);
  /** Names of selects that are too narrow for their longest option, which has 40 px beside its text. */
  const cutOff = () =>
    page.evaluate(() => {
      const context = document.createElement('canvas').getContext('2d')!;
      const selects = document.querySelectorAll<HTMLSelectElement>('#controls select');
      return [...selects].flatMap((select) => {
        if (select.offsetWidth === 0) return [];
        context.font = getComputedStyle(select).font;
        const text = Math.max(...[...select.options].map(({ text }) => context.measureText(text).width));
        return text + 40 > select.clientWidth ? [select.id] : [];
      });
    });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await open(CALM.replace('mpc-d', 'mpc-d,dynamic'));
  await untilPlayed(page, 1);
  const top = async (selector: string) => (await page.locator(selector).first().boundingBox())!.y;
  expect((await top('#players')) - (await top('#controls'))).toBeLessThan(220);
  await expect(page.getByRole('combobox', { name: 'Stream' })).toBeHidden();
  await openSettings(page);
  await expect(page.getByRole('combobox', { name: 'Stream' })).toBeVisible();
  expect(await cutOff()).toEqual([]);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await expectNoAxeViolations(page);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(await cutOff()).toEqual([]);

  // Four players on one link: the sentence compares both kinds, and all figures are visible without scrolling.
  const links: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/session')) links.push(request.postDataJSON().link);
  });
  await openSettings(page);
  await page.getByRole('button', { name: 'Four, one dish' }).press('Enter');
  await untilPlayed(page, 1);
  await expect(page.locator('#story')).toHaveText(/leo‑abr’s picture is .* of the link’s data\.$/);
  expect(links).toEqual([undefined, links[1], links[1], links[1]]);
  expect(links[1]).toMatch(/^\d+$/);
  await openDecisions(page);
  await atBothSizes(page, async (height) => {
    const { y, height: barHeight } = (await page.locator('.bar.data').last().boundingBox())!;
    expect(y + barHeight).toBeLessThanOrEqual(height);
  });
});

test("plays the user's own algorithm; reports a lost origin, and restarts when it is back", async ({ page }) => {
  const own = 'docs/examples/my-algorithm.ts';
  const demo = await startDemo(0, { LEO_ABR_ALGORITHMS: own });
  try {
    await page.goto(`${demo.url}${CALM.replace('mpc-d', own)}`);
    await untilPlayed(page, 1);
    expect(new URL(page.url()).searchParams.get('players')).toBe(own);
    await expect(page.getByRole('combobox', { name: 'Algorithm of player 1' })).toHaveValue(own);
    await openDecisions(page);
    await expect(page.getByText(/^assumes [\d.]+ Mbit\/s$/)).toBeVisible();
  } finally {
    await demo.stop();
  }
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('no longer answers', { timeout: 15_000 });
  await expect(alert).toContainText('npm start');
  // The views stay.
  await expect(player(page, 1).getByRole('definition').nth(1)).toHaveText(/\d/);
  await expect(page.getByRole('heading', { name: 'Timeline' })).toBeVisible();

  const again = await startDemo(demo.port);
  try {
    await expect(alert).toBeEmpty({ timeout: 20_000 });
    await untilPlayed(page, 1);
    expect(new URL(page.url()).searchParams.get('trace')).toBe('stationary-calm');
  } finally {
    await again.stop();
  }
});
