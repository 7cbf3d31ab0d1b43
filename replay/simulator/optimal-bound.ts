/** proto */
import { type SessionProblem } from './optimal-problem.ts';

export function upperBound(problem: SessionProblem, opts: {rGrid: number, sGrid: number, lower: number, stats?: number[], exact?: boolean}) {
  const { link, sizesBits, gains, switchCosts, mu, segmentSeconds: L, representationCount: Q, cutoffSeconds, segmentCount: N, bufferCapSeconds: cap } = problem;
  const { appendSeconds: a, stallLevelSeconds: sigma, requestGapSeconds: g, requestLatenessSeconds: late } = problem.browser;
  // label arrays per last
  type Front = { r: number[]; s: number[]; v: number[]; p: number[]; m: number[] }; 
  const snapR = (x: number) => !opts.exact && opts.rGrid > 0 ? Math.floor(x / opts.rGrid) * opts.rGrid : x;
  const snapS = (x: number) => !opts.exact && opts.sGrid > 0 ? Math.floor(x / opts.sGrid) * opts.sGrid : x;
  const seconds = new Float64Array(Q);
  const parents: { lastParent: Int32Array }[][] = [];
  let best = -Infinity; let bestPlan: [number, number] | undefined;
  const history: { q: number[]; idx: number[] }[][] = [];
  const exact = opts.exact; const I = problem.browser.initSegmentBits; const idleHelps = !exact && cap - L >= L + sigma;
  const next = (t: number, s: number, k: number) => {
    // after append of segment k-1 (k appended)
    const level = k * L + s - t;
    const tc = t + level + L - cap;
    const first = k === 1;
    if (exact ? t > tc + 1e-12 : t > tc) return t + g;
    if (!first && idleHelps) return Math.max(t, tc) + g;
    return Math.max(t + g, tc + late);
  };
  const maxGainFrom = (k: number, last: number) => (N - k) * gains[Q - 1]! - switchCosts[last * Q + Q - 1]!;
  let fronts: Front[] = [];
  for (let q = 0; q < Q; q++) {
    const t = link.downloadSeconds(0, sizesBits[q]!) + a;
    const s = snapS(t);
    if (s >= cutoffSeconds) { best = Math.max(best, -mu * cutoffSeconds); fronts.push({ r: [], s: [], v: [], p: [], m: [] }); continue; }
    fronts.push({ r: [snapR(next(t, t, 1))], s: [s], v: [gains[q]!], p: [-1], m: [1 << q] });
  }
  history.push(fronts.map((f) => ({ q: f.p.map(() => -1), idx: f.p })));
  for (let k = 1; k < N; k++) {
    const cand: { r: number; s: number; v: number; p: number; m: number; rk: number; sk: number }[][] = Array.from({ length: Q }, () => []);
    for (let p = 0; p < Q; p++) {
      const f = fronts[p]!;
      for (let i = 0; i < f.r.length; i++) {
        const r = f.r[i]!, s = f.s[i]!, v = f.v[i]!;
        link.downloadSecondsEach(r, { sizesBits, from: k * Q, count: Q, seconds });
        for (let q = 0; q < Q; q++) {
          let t = r + seconds[q]! + a;
          const m = f.m[i]!;
          if (exact && I > 0 && (m & (1 << q)) === 0) { const r2 = r + link.downloadSeconds(r, I); t = r2 + link.downloadSeconds(r2, sizesBits[k * Q + q]!) + a; }
          const d0 = k * L - sigma; // deadline without waits
          const s2 = t - d0 > s ? snapS(Math.max(s, t - d0)) : s;
          const s3 = Math.max(s, s2);
          const v2 = v + gains[q]! - switchCosts[p * Q + q]!;
          if (s3 >= cutoffSeconds) { best = Math.max(best, v - mu * cutoffSeconds); continue; }
          if (v2 - mu * s3 + maxGainFrom(k + 1, q) <= opts.lower) continue;
          if (k === N - 1) { if (v2 - mu * s3 > best) { best = v2 - mu * s3; bestPlan = [p, i]; (bestPlan as any)[2] = q; } continue; }
          const rr = snapR(next(t, s3, k + 1)); cand[q]!.push({ r: rr, s: s3, v: v2, p: p * 16777216 + i, m: m | (1 << q), rk: exact ? Math.floor(rr / opts.rGrid) : rr, sk: exact ? Math.floor(s3 / opts.sGrid) : s3 });
        }
      }
    }
    if (k === N - 1) break;
    let total = 0, ctotal = 0;
    fronts = cand.map((list) => {
      ctotal += list.length;
      list.sort((x, y) => x.rk - y.rk || x.sk - y.sk || y.v - x.v || x.r - y.r);
      const out: Front = { r: [], s: [], v: [], p: [], m: [] };
      const ss: number[] = [], vs: number[] = [];
      for (const c of list) {
        let lo = 0, hi = ss.length;
        while (lo < hi) { const m = (lo + hi) >> 1; if (ss[m]! <= c.sk) lo = m + 1; else hi = m; }
        if (lo > 0 && vs[lo - 1]! >= c.v) continue;
        let end = lo; while (end < ss.length && vs[end]! <= c.v) end++;
        if (lo > 0 && ss[lo - 1] === c.sk) lo--;
        ss.splice(lo, end - lo, c.sk); vs.splice(lo, end - lo, c.v);
        out.r.push(c.r); out.s.push(c.s); out.v.push(c.v); out.p.push(c.p); out.m.push(c.m);
      }
      total += out.r.length;
      return out;
    });
    opts.stats?.push(total);
    history.push(fronts.map((f) => ({ q: [], idx: f.p })));
  }
  const plan = new Uint8Array(N);
  if (bestPlan) {
    let [p, i] = bestPlan; plan[N - 1] = (bestPlan as any)[2];
    for (let k = N - 2; k >= 0; k--) { plan[k] = p; const pr = history[k]![p]!.idx[i]!; p = Math.floor(pr / 16777216); i = pr % 16777216; }
  }
  return { best, plan };
}
