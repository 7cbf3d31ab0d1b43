/**
 * The controllers that the plugin brings along, by name. Those that only a replay can use are left out, so that no page
 * loads them.
 */

import type { Controller } from '../abr/controller.ts';
import { createMpcD } from '../abr/mpc-d.ts';

const CONTROLLERS = {
  'mpc-d': {},
  'mpc-d:abandon': { abandon: true },
  'mpc-d:cap': { bufferCap: true },
};

export type ControllerName = keyof typeof CONTROLLERS;

export const CONTROLLER_NAMES = Object.keys(CONTROLLERS) as readonly ControllerName[];

export function createController(name: ControllerName, options: { horizon: number }): Controller {
  return createMpcD({ horizon: options.horizon, outlook: true, ...CONTROLLERS[name] });
}
