/**
 * Writes the demo's film as raw RGB pictures, which make-fixtures.sh encodes: somebody talks in front of hills that pass.
 * It is seeded, and its end joins its beginning. Fine textures show what a bitrate keeps.
 */

const [WIDTH, HEIGHT, PICTURES] = [1280, 720, 144];
const HORIZON = 330;
/** The track of the pole near the camera: it passes three times in the film. */
const POLE = { track: 2560, turns: 3, from: 200, width: 22 };

/** Seeded noise in 0 to 1 that repeats after `period` cells in x. */
function noise(x, y, period, seed) {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const at = (i, j) => {
    let hash =
      Math.imul((((i % period) + period) % period) + 1, 374761393) + Math.imul(j + 7, 668265263) + seed * 974711;
    hash = Math.imul(hash ^ (hash >>> 13), 1274126177);
    return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
  };
  const smooth = (t) => t * t * (3 - 2 * t);
  const [u, v] = [smooth(x - left), smooth(y - top)];
  const row = (j) => at(left, j) + (at(left + 1, j) - at(left, j)) * u;
  return row(top) + (row(top + 1) - row(top)) * v;
}

/** The sum of noises, each with cells half as large as the one before. `period` is the first one's, in cells. */
function cloud(x, y, period, seed, octaves = 4) {
  let [sum, weight] = [0, 0.5];
  for (let i = 0; i < octaves; i++, weight /= 2)
    sum += weight * noise(x * 2 ** i, y * 2 ** i, period * 2 ** i, seed + i);
  return sum;
}

const mix = (a, b, t) => a.map((one, i) => one + (b[i] - one) * Math.min(1, Math.max(0, t)));
const lit = (colour, factor) => colour.map((one) => one * factor);
const grid = (width, height, of) =>
  Array.from({ length: width * height }, (_, i) => of(i % width, Math.floor(i / width)));

/** Hills behind each other, the farthest first. A hill is a tile that passes `turns` times in the film. */
const HILLS = [
  { tile: 426, turns: 1, top: 250, height: 130, cells: 4, colour: [128, 140, 176], grain: 0.15, scale: 0.05 },
  { tile: 640, turns: 1, top: 315, height: 110, cells: 5, colour: [88, 122, 104], grain: 0.5, scale: 0.15 },
  { tile: 1280, turns: 1, top: 420, height: 90, cells: 6, colour: [74, 118, 52], grain: 0.8, scale: 0.25 },
  { tile: 1280, turns: 2, top: 560, height: 60, cells: 7, colour: [112, 122, 44], grain: 1.1, scale: 0.5 },
].map((hill, k) => {
  const { tile, cells, scale, grain, colour, top, height } = hill;
  const ridge = Array.from(
    { length: tile },
    (_, x) => top + height * (1 - 1.4 * cloud((x / tile) * cells, 0, cells, 10 * k)),
  );
  const texture = grid(tile, HEIGHT, (x, y) => {
    const leaves = cloud(x * scale, y * scale * 1.4, Math.round(tile * scale), 50 + k, 3) - 0.45;
    return lit(mix(colour, [38, 52, 30], (y - ridge[x]) / 420), 1 + grain * leaves);
  });
  return { ...hill, ridge, texture };
});

const sky = grid(WIDTH, HEIGHT, (x, y) => {
  const blue = mix([74, 124, 196], [246, 206, 160], y / HORIZON);
  const sun = Math.exp(-(((x - 300) ** 2 + (y - 190) ** 2) / 9000));
  const white = (cloud(x / 230, y / 90, 64, 90, 5) - 0.46) * 5;
  return mix(mix(blue, [250, 240, 232], white * 0.8), [255, 246, 214], sun);
});

/** An invented person, who talks: the colour at a point, or undefined beside the person. */
function person(x, y, turn) {
  const sway = 7 * Math.sin(turn) + 3 * Math.sin(3 * turn);
  const [dx, dy] = [x - 930 - sway, y - 330 - 3 * Math.sin(2 * turn)];
  const face = (dx / 88) ** 2 + (dy / 116) ** 2;
  const hair = (dx / 104) ** 2 + ((dy + 24) / 128) ** 2;
  const shade = 1.06 - 0.0024 * (dx + 40) - 0.12 * face;
  if (face < 1 && !(dy < -62 + 0.2 * dx)) {
    const isBlinking = Math.sin(3 * turn + 1) > 0.97;
    const eye = ((Math.abs(dx) - 34) / 15) ** 2 + ((dy + 12) / (isBlinking ? 2 : 8)) ** 2;
    if (eye < 0.2) return [30, 26, 30];
    if (eye < 1) return [238, 236, 232];
    if (Math.abs(Math.abs(dx) - 35) < 20 && Math.abs(dy + 34 - 0.1 * Math.abs(dx)) < 4) return [72, 46, 30];
    const open = 3 + 7 * Math.abs(Math.sin(11 * turn)) * Math.abs(Math.sin(4 * turn));
    const mouth = (dx / 32) ** 2 + ((dy - 56) / open) ** 2;
    if (mouth < 0.5) return [92, 26, 32];
    if (mouth < 1.2) return [176, 84, 82];
    const nose = Math.exp(-(((dx - 9) / 7) ** 2 + ((dy - 16) / 22) ** 2));
    return lit([226, 172, 138], shade * (1 - 0.2 * nose + 0.08 * (noise(dx / 3 + 400, dy / 3 + 400, 999, 5) - 0.5)));
  }
  if (hair < 1 && dy < 70) return lit([86, 54, 32], 0.6 + 0.9 * noise(dx / 2.2 + 500 + dy / 30, dy / 26 + 50, 999, 6));
  if (Math.abs(dx) < 40 && dy > 60 && dy < 140) return lit([206, 150, 118], 0.82);
  const away = Math.abs(dx);
  if (dy < 128 + 60 * (away / 200) ** 5) return undefined;
  if (away < 40 - (dy - 128) * 0.3) return [236, 236, 240];
  const stripe = Math.floor((dx + 700) / 7) % 3 === 0 ? 1.75 : 1;
  return lit([40, 60, 104], stripe * (1.1 - 0.0016 * away));
}

function pole(x) {
  return x >= 0 && x < POLE.width ? lit([92, 84, 78], 1.3 - 0.02 * x) : undefined;
}

for (let k = 0; k < PICTURES; k++) {
  const turn = (2 * Math.PI * k) / PICTURES;
  const picture = Buffer.alloc(WIDTH * HEIGHT * 3);
  const passed = Math.round((k / PICTURES) * POLE.track * POLE.turns);
  const shifts = HILLS.map(({ tile, turns }) => Math.round((k / PICTURES) * tile * turns));
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      let colour = person(x, y, turn) ?? pole(((x + passed) % POLE.track) - POLE.from);
      for (let h = HILLS.length - 1; h >= 0 && colour === undefined; h--) {
        const { tile, ridge, texture } = HILLS[h];
        const column = (x + shifts[h]) % tile;
        if (y >= ridge[column]) colour = texture[y * tile + column];
      }
      colour ??= sky[y * WIDTH + x];
      const at = 3 * (y * WIDTH + x);
      for (let c = 0; c < 3; c++) picture[at + c] = Math.min(255, Math.max(0, colour[c]));
    }
  }
  if (!process.stdout.write(picture)) await new Promise((resolve) => process.stdout.once('drain', resolve));
}
