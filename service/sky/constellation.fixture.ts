/** A synthetic constellation as two-line elements: evenly spread circular orbits of a shell. */

export function shellText({ planes, perPlane, epochMs }: { planes: number; perPlane: number; epochMs: number }) {
  const lines: string[] = [];
  for (let plane = 0; plane < planes; plane++) {
    for (let place = 0; place < perPlane; place++) {
      const number = 50_000 + plane * perPlane + place;
      const node = (360 * plane) / planes;
      const anomaly = ((360 * place) / perPlane + (360 * plane * 0.37) / planes) % 360;
      lines.push(`FAKE-${number}`, ...elementLines(number, epochMs, { node, anomaly }));
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Lines of an orbit with an inclination of 53 degrees and an altitude of 550 km, as most of Starlink has. */
export function elementLines(number: number, epochMs: number, { node, anomaly } = { node: 1, anomaly: 2 }) {
  const year = new Date(epochMs).getUTCFullYear();
  const day = (epochMs - Date.UTC(year, 0, 1)) / 86_400_000 + 1;
  const epoch = `${String(year % 100).padStart(2, '0')}${day.toFixed(8).padStart(12, '0')}`;
  const [nodeText, anomalyText] = [node, anomaly].map((degrees) => degrees.toFixed(4).padStart(8));
  // The parser does not read the checksum, the last digit.
  return [
    `1 ${number}U 20001A   ${epoch}  .00000000  00000+0  00000+0 0  9990`,
    `2 ${number}  53.0000 ${nodeText} 0001000  90.0000 ${anomalyText} 15.06000000    10`,
  ];
}
