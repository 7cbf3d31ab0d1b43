/** Seeded random numbers. */

export type Random = () => number;

/** Mulberry32: 32 bits of state, uniform in [0, 1). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Park and Miller's generator with a scrambled seed, uniform in [0, 1). Another generator would change MPC-L's choices. */
export function minimalStandard(seed: number): Random {
  const modulus = 2147483647;
  let state = (((seed >>> 0) * 2654435769) % (modulus - 1)) + 1;
  return () => {
    state = (state * 48271) % modulus;
    return (state - 1) / (modulus - 1);
  };
}

/** A standard normal number (Box-Muller). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A 32-bit seed from a name (FNV-1a). */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
