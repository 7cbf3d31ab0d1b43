/** A synthetic constellation as two-line elements: evenly spread circular orbits of one shell. */

/** An inclination of 53 degrees and an altitude of 550 km, as most of Starlink has. */
const SHELL = { inclinationDegrees: 53, revolutionsPerDay: 15.06 };

export function shellText({ planes, perPlane, epochMs }: { planes: number; perPlane: number; epochMs: number }) {
  const lines: string[] = [];
  for (let plane = 0; plane < planes; plane++) {
    for (let place = 0; place < perPlane; place++) {
      const number = 50_000 + plane * perPlane + place;
      const node = (360 * plane) / planes;
      const anomaly = ((360 * place) / perPlane + (360 * plane * 0.37) / planes) % 360;
      lines.push(`FAKE-${number}`, ...elementLines({ ...SHELL, number, epochMs, node, anomaly }));
    }
  }
  return `${lines.join('\n')}\n`;
}

interface Orbit {
  number: number;
  epochMs: number;
  inclinationDegrees: number;
  node: number;
  anomaly: number;
  revolutionsPerDay: number;
}

export function elementLines(orbit: Orbit): [string, string] {
  const { number, epochMs, inclinationDegrees, node, anomaly, revolutionsPerDay } = orbit;
  const year = new Date(epochMs).getUTCFullYear();
  const day = (epochMs - Date.UTC(year, 0, 1)) / 86_400_000 + 1;
  const epoch = `${String(year % 100).padStart(2, '0')}${day.toFixed(8).padStart(12, '0')}`;
  const angle = (degrees: number) => degrees.toFixed(4).padStart(8);
  const line1 = `1 ${number}U 20001A   ${epoch}  .00000000  00000+0  00000+0 0  999`;
  const line2 = `2 ${number} ${angle(inclinationDegrees)} ${angle(node)} 0001000 ${angle(90)} ${angle(anomaly)} ${revolutionsPerDay.toFixed(8).padStart(11)}    1`;
  // The parser does not read the checksum, the last digit.
  return [`${line1}0`, `${line2}0`];
}
