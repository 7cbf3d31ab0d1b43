/** A page with viewers of a trial. Each viewer plays a stream to its end in the viewer's arm. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { SCENARIOS, type Scenario } from '../../replay/scenarios.ts';
import type * as trialEntry from '../../trial/index.ts';
import { built } from '../builds.ts';
import { LADDER_BPS, type LabPlayer } from './playback-test.ts';

/** A scenario with 4 s of media on a tenth of a shipped link's rate. */
export const TRIAL_SCENARIO: Scenario = {
  ...{ ...SCENARIOS['pensieve-60']!, name: 'trial', ladderBps: LADDER_BPS, segmentSeconds: 1, segmentCount: 4 },
  ...{ rttSeconds: 0.02, traceScale: { factor: 0.1 } },
};

export interface Viewer {
  manifest: string;
  /** Without it, the viewer loads nothing of a trial. */
  trial?: trialEntry.TrialOptions | trialEntry.ConfiguredTrial;
  report?: string;
}

declare global {
  interface Window {
    LeoAbrTrial: typeof trialEntry;
    /** Plays to the end, and resolves to the name of the arm. The player stays. */
    view(viewer: Viewer): Promise<string | undefined>;
    stopAll(): void;
  }
}

/** Runs in the page before its scripts. */
function installViewers(): void {
  const stops: (() => void)[] = [];
  window.stopAll = () => {
    for (const stop of stops) stop();
  };
  window.view = async ({ manifest, trial, report }) => {
    const { assignArm } = window.LeoAbrTrial ?? {};
    const arm = trial && ('config' in trial ? await assignArm(trial) : assignArm(trial));
    const before = ({ player, handle }: LabPlayer<never>) => {
      if (!trial) return;
      const reports = window.LeoAbrTrial.reportSessions(player, { arm, leoAbr: handle, report });
      stops.push(() => reports.stop());
    };
    const options = { abandon: true, ...arm?.options };
    const lab = await window.lab.play({ manifest, options, isPlain: !arm?.options, height: 180, before });
    const { video } = lab;
    // A shipped link may be blocked for longer than `lab.until` waits.
    const isOver = () => video.ended || video.currentTime > video.duration - 0.1;
    while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 50));
    return arm?.arm;
  };
}

/** Returns the page with `window.view`. */
export async function openViewers(page: Page): Promise<Page> {
  await page.addInitScript(installViewers);
  const body = built('plugin-trial', 'leo-abr.trial.js');
  await page.route('**/plugin-trial.js', (route) => route.fulfill({ contentType: 'text/javascript', body }));
  await page.reload();
  await page.evaluate(async () => {
    const path = '/plugin-trial.js';
    window.LeoAbrTrial = await import(path);
  });
  return page;
}

/** The reports that a collector has stored in a folder, as text. */
export function reportsIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1));
}
