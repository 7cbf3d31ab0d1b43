/** Starts the demo page. */

import './locale-guard.ts';
import 'uplot/dist/uPlot.min.css';
import { DemoPage } from './demo-page.ts';

await DemoPage.open();
