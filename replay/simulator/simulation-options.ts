/** The options of a simulated session. */

import type { Controller, Forecaster } from '../../abr/index.ts';
import type { Plan } from '../algorithms.ts';
import type { CatchUp } from '../catch-up.ts';
import type { Sender } from '../link/shared-link.ts';
import type { Observing } from '../observed-controller.ts';
import type { ResolvedScenario } from '../results.ts';
import type { Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';

/** Nothing is checked here: scenarios and starts are checked when they are read. By default, bits have no price. */
export interface SimulationOptions extends Plan, Observing {
  trace: Trace;
  /** Plays its `segmentSizesBits` if it has any, else seeded sizes. */
  scenario: Scenario | ResolvedScenario;
  controller: Controller;
  /** Second of the trace at the first media request; in a live stream, at the join. Default 0. */
  startSeconds?: number;
  /** At most the scenario's. Default: the scenario's. */
  segmentCount?: number;
  /** For the forecaster and the result; the simulator uses no random numbers. Default 0. */
  seed?: number;
  /** Name in the result. Default: the controller's. */
  algorithm?: string;
  /** A forecaster or its constructor. `traceSecondsAt` converts a second of the session's clock to the trace's. */
  forecaster?: Forecaster | ((traceSecondsAt: (nowSeconds: number) => number) => Forecaster) | undefined;
  /** Downloads in the controller's state. Default: a page's. */
  downloadsKept?: number | undefined;
  /** Catch-up of a live stream in chunks. Default: the controller's pace, else dash.js's own. */
  catchUp?: CatchUp | undefined;
  /** On demand the session ends with `endedBy: cutoff` after this much waiting. Default `CUTOFF_SECONDS`. */
  cutoffSeconds?: number;
  /** The player's UTC minus the trace's. Default 0. */
  utcErrorSeconds?: number;
  /** The stream lists no sizes, like most live streams, so the session learns them. Default false. */
  learnsSizes?: boolean | undefined;
  /** Access to a link that others use, too. Default: the session has the link for itself. */
  access?: Sender;
}
