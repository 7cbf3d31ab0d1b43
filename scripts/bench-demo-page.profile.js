/** What scripts/bench-demo-page.js makes of its samples: whose the main thread's time was, and whether a series grows. Pure. */

/** demo/, the plugin, the forecasters, and uPlot, which does nothing but what the page tells it. */
export const PAGE = 'the page';
const ON_BEHALF = ['uplot'];

/** Whose a function is, by the file that Vite serves it from; undefined for what the browser does itself. */
function ownerOf({ url }) {
  if (url === '' || !/^https?:/.test(url)) return undefined;
  if (url.includes('/@vite/')) return 'the dev server’s client';
  if (!url.includes('/node_modules/')) return PAGE;
  const library = /\/node_modules\/(?:\.vite\/deps\/)?([\w-]+)/.exec(url)[1];
  return ON_BEHALF.includes(library) ? PAGE : library;
}

/**
 * A profile of V8 (CDP's Profiler.Profile) as samples in order of time: `atUs` on the profiler's clock, `us` until the next one,
 * `owner`, and `what`, the innermost of the owner's functions. A sample is the page's as soon as one of its functions is on
 * the stack, whatever that called: dash.js, layout. A collection of garbage is put down to whom it interrupts.
 */
export function samplesOf({ nodes, samples, timeDeltas, startTime }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes) for (const id of node.children ?? []) byId.get(id).parent = node;
  const known = new Map();
  const read = (id) => {
    const owners = [];
    for (let node = byId.get(id); node !== undefined; node = node.parent) {
      const owner = ownerOf(node.callFrame);
      if (owner !== undefined) owners.push({ owner, what: nameOf(node.callFrame) });
    }
    const { functionName } = byId.get(id).callFrame;
    if (functionName === '(garbage collector)') return { owner: 'collection', what: functionName };
    if (functionName === '(idle)') return { owner: 'idle', what: functionName };
    return owners.find(({ owner }) => owner === PAGE) ?? owners[0] ?? { owner: 'the browser', what: functionName };
  };
  let atUs = startTime;
  let interrupted;
  return samples.map((id, i) => {
    atUs += timeDeltas[i];
    if (!known.has(id)) known.set(id, read(id));
    let { owner, what } = known.get(id);
    if (owner !== 'collection') interrupted = owner;
    else if (interrupted !== undefined && interrupted !== 'idle')
      [owner, what] = [interrupted, 'collection of garbage'];
    else [owner, what] = ['the browser', 'collection of garbage'];
    return { atUs, us: timeDeltas[i + 1] ?? 0, owner, what };
  });
}

function nameOf({ functionName, url, lineNumber }) {
  const file = new URL(url).pathname.split('/').at(-1);
  return `${functionName || `(line ${lineNumber + 1})`} in ${file}`;
}

/** ms by owner between two times of the profiler's clock, and by function of each. */
export function timesBetween(samples, fromUs, toUs) {
  const ms = {};
  const functions = {};
  for (const { atUs, us, owner, what } of samples) {
    const part = (Math.min(toUs, atUs + us) - Math.max(fromUs, atUs)) / 1000;
    if (part <= 0) continue;
    ms[owner] = (ms[owner] ?? 0) + part;
    functions[owner] ??= {};
    functions[owner][what] = (functions[owner][what] ?? 0) + part;
  }
  return { ms, functions };
}

/** The entry with the greatest value. */
export function largest(of) {
  return Object.entries(of).reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0]);
}

/** Least squares of `y` on `x` and a constant: slope with half the width of its 95 % interval; undefined for fewer than 5 points. */
export function slopeOf(y, x) {
  const degrees = y.length - 2;
  if (degrees < 3) return undefined;
  const centred = (some) => some.map((one) => one - some.reduce((sum, other) => sum + other, 0) / some.length);
  const dot = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0);
  const [left, own] = [centred(y), centred(x)];
  const value = dot(own, left) / dot(own, own);
  const residuals = left.map((one, i) => one - value * own[i]);
  const error = Math.sqrt(dot(residuals, residuals) / degrees / dot(own, own));
  return { value, halfWidth: quantileOfT(degrees) * error };
}

/** The 97.5 % quantile of Student's t, by the expansion of Cornish and Fisher: 0.5 % off at 5 degrees of freedom. */
function quantileOfT(degrees) {
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
}
