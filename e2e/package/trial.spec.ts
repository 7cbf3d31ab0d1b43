/** A trial from the packed leo-abr-tools: viewers in arms, their reports in `collect`, and the table of `trial`. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { assignArm } from '../../src/trial.ts';
import { expect, test } from '../playback/playback-test.ts';
import { openViewers, reportsIn, trialScenario } from '../playback/viewers.ts';
import { installTools, runTools, servingTools } from './installed-tools.ts';

/** A large trial: how many viewers, how long they watch, and where their reports stay. */
const { TRIAL_VIEWERS = '16', TRIAL_SECONDS = '4', TRIAL_FOLDER } = process.env;
const VIEWERS = Number(TRIAL_VIEWERS);
const SECONDS = Number(TRIAL_SECONDS);
const AT_ONCE = 8;
/** A folder may have reports of earlier runs. */
const NAME = TRIAL_FOLDER === undefined ? 'packed' : `packed ${new Date().toISOString()}`;

/** Half of them in each arm. */
function keys(): string[] {
  const left = new Map([
    ['leo-abr', VIEWERS / 2],
    ['player', VIEWERS / 2],
  ]);
  return Array.from({ length: 10 * VIEWERS }, (_, i) => `viewer ${i}`).filter((key) => {
    const { arm } = assignArm({ name: NAME, key });
    left.set(arm, left.get(arm)! - 1);
    return left.get(arm)! >= 0;
  });
}

test('viewers report to collect, and trial compares their arms', async ({ labPage, origin }) => {
  test.setTimeout(180_000 + VIEWERS * (10_000 + 2000 * SECONDS));
  const folder = mkdtempSync(join(tmpdir(), 'leo-abr-packed-trial-'));
  const reports = TRIAL_FOLDER === undefined ? join(folder, 'reports') : resolve(TRIAL_FOLDER);
  const before = reportsIn(reports).length;
  try {
    installTools(folder, []);
    const page = await openViewers(labPage);
    const traces = synthesizeShippedTraces();
    const play = async (report: string) => {
      const waiting = keys().map((key, i) => {
        const session = origin.createSession({ trace: traces[i % traces.length]!, scenario: trialScenario(SECONDS) });
        return { manifest: origin.manifestUrl(session), trial: { name: NAME, key }, report };
      });
      while (waiting.length > 0) {
        const some = waiting.splice(0, AT_ONCE);
        await page.evaluate((all) => Promise.all(all.map((one) => window.view(one))), some);
        await page.evaluate(() => window.stopAll());
      }
      await expect.poll(() => reportsIn(reports).length - before, { timeout: 20_000 }).toBe(VIEWERS);
    };
    await servingTools(folder, `npx leo-abr-tools collect --port 0 --out ${reports}`, play);
    const { stdout } = await runTools(folder, ['trial', reports, '--name', NAME]);
    if (process.env['TRIAL_VIEWERS']) process.stdout.write(stdout);
    expect(stdout).toMatch(/^With `leo-abr` instead of `player`, .*QoE/m);
    expect(stdout).toMatch(/^metric +player +leo-abr +difference/m);
    for (const metric of ['QoE', 'time stalled, %', 'watch time, s per session', 'startup, s']) {
      expect(stdout).toMatch(new RegExp(`^${metric} +−?\\d\\S* +−?\\d\\S* +[+−]?\\d`, 'm'));
    }
    expect(stdout).toContain(`- \`leo-abr\`: ${VIEWERS / 2} sessions, 0.0 % with the player's own algorithm`);
    expect(stdout).toContain(`- \`player\`: ${VIEWERS / 2} sessions, 100.0 % with the player's own algorithm`);
    expect(stdout).not.toMatch(/not counted: (?!of another trial)/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
