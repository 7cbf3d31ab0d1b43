/**
 * A trial with the packed leo-abr-tools, as docs/production.md describes it: a configuration on another origin, viewers
 * in arms, their reports in `collect`, the table of `trial`, a guard, and the switch-off.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { assignArm } from '../../trial/index.ts';
import type { SessionReport } from '../../trial/session-report.ts';
import { ROOT } from '../builds.ts';
import { expect, test } from '../playback/playback-test.ts';
import { openViewers, reportsIn, TRIAL_SCENARIO } from '../playback/viewers.ts';
import { installTools, runTools, servingTools } from './installed-tools.ts';

const NAME = 'packed';
const VIEWERS = 16;
const AT_ONCE = 8;

/** Keys of viewers, half of them in each arm. */
function keys(): string[] {
  const counts: Record<string, number> = {};
  return Array.from({ length: 100 * VIEWERS }, (_, i) => `viewer ${i}`).filter((key) => {
    const { arm } = assignArm({ name: NAME, key, share: 0.5 });
    counts[arm] = (counts[arm] ?? 0) + 1;
    return counts[arm] <= VIEWERS / 2;
  });
}

/** The cron job of the guide. */
function guardScript(): string {
  return /```sh\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/production.md'), 'utf8'))![1]!;
}

/** A host of static files for pages of any origin. */
async function serveFile(path: string) {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' });
    response.end(readFileSync(path));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/trial.json`, close: () => server.close() };
}

/** Reports of many viewers with these sessions, but with a long startup in the plugin's arm. */
function slowReports(seen: readonly SessionReport[]): string[] {
  return Array.from({ length: 1000 }, (_, i) => {
    const report = seen[i % seen.length]!;
    const startupSeconds = report.startupSeconds + (report.arm === 'leo-abr' ? 5 : 0);
    return JSON.stringify({ ...report, id: i.toString(16).padStart(16, '0'), cluster: i, startupSeconds });
  });
}

test('viewers in arms of a configuration report to collect; trial compares them, and a guard switches off', async ({
  labPage,
  origin,
}) => {
  test.setTimeout(400_000);
  const folder = installTools();
  const [file, reports] = [join(folder, 'trial.json'), join(folder, 'reports')];
  rmSync(reports, { recursive: true, force: true });
  const stored = () => reportsIn(join(reports, '05')).map((line) => JSON.parse(line) as SessionReport);
  const shares = { player: 0.5, 'leo-abr': 0.5 };
  writeFileSync(file, JSON.stringify({ schema: 1, enabled: true, trial: NAME, shares, options: { saveData: true } }));
  writeFileSync(join(folder, 'guard.sh'), guardScript());
  writeFileSync(join(folder, 'switch-off.sh'), `sed -i 's/"enabled": *true/"enabled": false/' trial.json`);
  const guard = () => execFileSync('sh', ['guard.sh'], { cwd: folder, encoding: 'utf8' });
  const isEnabled = () => JSON.parse(readFileSync(file, 'utf8')).enabled;
  const cdn = await serveFile(file);
  try {
    const page = await openViewers(labPage);
    const traces = synthesizeShippedTraces();
    const view = async (keys: readonly string[], report: string) => {
      const viewers = keys.map((key, i) => {
        const session = origin.createSession({ trace: traces[i % traces.length]!, scenario: TRIAL_SCENARIO });
        return { manifest: origin.manifestUrl(session), trial: { config: cdn.url, configSeconds: 10, key }, report };
      });
      const seen = await page.evaluate((all) => Promise.all(all.map((one) => window.view(one))), viewers);
      await page.evaluate(() => window.stopAll());
      return seen.map(({ arm }) => arm);
    };
    const play = async (report: string) => {
      for (let i = 0; i < VIEWERS; i += AT_ONCE) await view(keys().slice(i, i + AT_ONCE), report);
      await expect.poll(() => stored().length, { timeout: 20_000 }).toBe(VIEWERS);
      expect(guard()).toMatch(
        /^No guard (is broken for certain \(trial packed\): .*too few viewers yet|of the trial packed can be checked yet)/,
      );
      expect(isEnabled()).toBe(true);
    };
    const switchOff = async (report: string) => {
      const slow = slowReports(stored());
      while (slow.length > 0) {
        const body = slow.splice(0, 20).join('\n');
        expect((await fetch(report, { method: 'POST', body })).status).toBe(204);
      }
      expect(guard()).toMatch(/^A guard is broken for certain \(trial packed\): .*startup of leo-abr is \+\d\.\d+ s /);
      expect(isEnabled()).toBe(false);
      expect(await view(keys().slice(0, 4), report)).toEqual(Array(4).fill(undefined));
      const ofPlayer = () => stored().flatMap(({ trial, controller }) => (trial ? [] : [controller]));
      await expect.poll(ofPlayer, { timeout: 20_000 }).toEqual(Array(4).fill('player'));
    };
    const collect = `npx --no leo-abr collect --port 0 --out ${join(reports, '05')}`;
    await servingTools(folder, collect, play);
    for (const one of stored()) {
      expect(one.perceivedQoe).toBeLessThan(100);
      expect(one.receivedBits).toBeGreaterThanOrEqual(one.wastedBits);
      expect(one.receivedBits).toBeGreaterThan(0);
    }
    const { stdout } = await runTools(folder, ['trial', join(reports, '05'), '--name', NAME]);
    expect(stdout).toMatch(/^With `leo-abr` instead of `player`, .*QoE/m);
    expect(stdout).toMatch(/^metric +player +leo-abr +difference/m);
    for (const metric of [
      ...['perceived QoE, 0 to 100', 'stalled share, %', 'watch time, s per session', 'startup, s'],
      'egress, GB per hour watched',
    ]) {
      expect(stdout).toMatch(new RegExp(`^${metric} +−?\\d\\S* +−?\\d\\S* +[+−]?\\d`, 'm'));
    }
    expect(stdout).toContain("- `leo-abr`: 8 sessions, 0.0 % with the player's own algorithm");
    expect(stdout).toContain("- `player`: 8 sessions, 100.0 % with the player's own algorithm");
    expect(stdout).not.toMatch(/not counted: (?!of another trial)/);
    await servingTools(folder, collect, switchOff);
  } finally {
    cdn.close();
  }
});
