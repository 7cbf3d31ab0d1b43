import { expect, test } from '@jest/globals';
import { type Chart, chartSvg } from './svg-chart.ts';

const chart: Chart = {
  title: 'loss < 1 & "more"',
  xLabel: 'x',
  yLabel: 'y',
  xDomain: [0, 10],
  yDomain: [0, 1],
  xTicks: [0, 10],
  yTicks: [0, 1],
  band: [0.5, 2],
  diagonal: true,
  lines: [
    {
      label: 'one',
      className: 'one',
      points: [
        [0, 0],
        [5, null],
        [10, 1],
      ],
    },
  ],
};

test('draws within the axes, with gaps, and escapes', () => {
  const svg = chartSvg(chart);
  expect(svg).toContain('aria-label="loss &lt; 1 &amp; &quot;more&quot;"');
  // The corners of the plot: left bottom and right top; two runs of one point.
  expect(svg).toContain('<polyline points="46,204"/><circle cx="46" cy="204" r="2"/>');
  expect(svg).toContain('<polyline points="310,28"/><circle cx="310" cy="28" r="2"/>');
  // The band ends where the axis does.
  expect(svg).toContain('<rect class="band" x="46" y="28" width="264" height="88"/>');
  expect(svg).not.toMatch(/NaN|undefined|null/);
});
