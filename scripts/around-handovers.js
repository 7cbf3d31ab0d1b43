/** `node scripts/around-handovers.js <scenario> <traces...>`: live sessions around handovers, in the simulator. */
import { bundledSources } from './bundled-sources.js';

const [scenario, ...paths] = process.argv.slice(2);
const { report } = await bundledSources('replay/simulator/around-handovers.ts');
console.log('mpc-l:no-handover, mpc-l, mpc-l:known-handover (difference from the first, 95 % interval)');
report(paths, scenario);
