/** How long forecast and decision take at each segment, with and without the rehearsal: printed, not asserted. */

import { expect, test } from './playback-test.ts';

const RUNS = 10;

for (let run = 0; run < RUNS; run++) {
  const isRehearsed = run % 2 === 0;
  test(`run ${run}, ${isRehearsed ? 'rehearsed' : 'without rehearsal'}`, async ({ labPage, stream }) => {
    const took = await labPage.evaluate(
      async ([manifest, isRehearsed]) => {
        const later = window.setTimeout;
        // The rehearsal is the only timer without a delay.
        const withoutRehearsal = (task: () => void, ms?: number) => (ms === undefined ? 0 : later(task, ms));
        if (!isRehearsed) Object.assign(window, { setTimeout: withoutRehearsal });
        const took: number[] = [];
        let askedMs = 0;
        // Asked before the built-in forecaster, which evaluates its networks when it is asked.
        const first = {
          name: 'first',
          start() {},
          observe() {},
          latest() {
            askedMs = performance.now();
            return undefined;
          },
        };
        const lab = window.lab.start({ manifest, options: { abandon: false, forecasters: [first] } });
        lab.handle.on('decision', () => took.push(performance.now() - askedMs));
        await window.lab.until('the end', () => lab.video.ended, lab as never);
        return took;
      },
      [`${stream({ segmentCount: 8 })}manifest.mpd`, isRehearsed] as const,
    );
    console.log(isRehearsed ? 'rehearsed' : 'without', took.map((ms) => ms.toFixed(1)).join(' '));
    expect(took).toHaveLength(8);
  });
}
