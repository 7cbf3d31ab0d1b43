/**
 * The controllers that the plugin brings along, by name. Those that only a replay can use are left out, so that no page
 * loads them.
 */

import type { Controller } from '../abr/controller.ts';
import { createMpcD } from '../abr/mpc-d.ts';

interface NamedControllerOptions {
  horizon: number;
  seed: number;
}

const CONTROLLERS = {
  'mpc-d': ({ horizon }: NamedControllerOptions): Controller => createMpcD({ horizon, outlook: true }),
  'mpc-d:abandon': ({ horizon }: NamedControllerOptions): Controller =>
    createMpcD({ horizon, outlook: true, abandon: true }),
  'mpc-d:cap': ({ horizon }: NamedControllerOptions): Controller =>
    createMpcD({ horizon, outlook: true, bufferCap: true }),
};

export type ControllerName = keyof typeof CONTROLLERS;

export const CONTROLLER_NAMES = Object.keys(CONTROLLERS) as readonly ControllerName[];

export function createController(name: ControllerName, options: NamedControllerOptions): Controller {
  return CONTROLLERS[name](options);
}
