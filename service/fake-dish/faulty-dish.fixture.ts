/** A fake dish that tests make misbehave. */

import type { ServiceDefinition } from '@grpc/grpc-js';
import {
  devicePackage,
  deviceService,
  type FurtherFields,
  type OutageCause,
  type RawResponse,
} from '../dish/device-api.ts';
import { type FakeDish, ScriptedDish, type ScriptedDishOptions, serveDish } from './fake-dish.ts';

/** Faults of a dish; any may be combined. */
export interface Misbehaviour {
  delayMs?: number;
  /** Answers are cut to this share of their bytes, 0 to 1. */
  cutTo?: number;
  /** Random bytes of the answer are changed. Uniform in [0, 1). */
  garble?: () => number;
  /** Replaces the answer. */
  change?: (response: RawResponse) => unknown;
  /** Requests fail with this gRPC status. */
  failWith?: number;
  /** Cause of the outage that it reports. */
  outage?: OutageCause;
}

export interface FaultyDish extends FakeDish {
  /** Holds until the next call; `{}` ends all faults. */
  misbehave(how: Misbehaviour): void;
  /** Resets uptime, history and map. */
  reboot(): void;
}

/** The attitude. The number is made up, because the number in real firmware is not published. */
export const ATTITUDE_FIELDS: FurtherFields = {
  DishGetStatusResponse: { ned2dish_quaternion: [1999, 'Quaternion'] },
  Quaternion: { q_scalar: [1, 'float'], q_x: [2, 'float'], q_y: [3, 'float'], q_z: [4, 'float'] },
};
const DEAD_SECOND = { latencyMs: undefined, dropRate: 1, downlinkUsageBps: 0, uplinkUsageBps: 0 };

export async function startFaultyDish(options: ScriptedDishOptions): Promise<FaultyDish> {
  let misbehaviour: Misbehaviour = {};
  /** Requested changes of the outage, newest first. */
  const outages: { fromMs: number; cause: OutageCause | undefined }[] = [];
  const { at } = options.script;
  const dish = new ScriptedDish({
    ...options,
    script: {
      ...options.script,
      at(atMs) {
        const outage = outages.find(({ fromMs }) => fromMs <= atMs)?.cause;
        const second = at(atMs);
        return outage === undefined
          ? second
          : { ...second, ...DEAD_SECOND, obstructed: outage === 'OBSTRUCTED', outage };
      },
    },
  });
  const definitions = devicePackage(...(options.attitude === undefined ? [] : [ATTITUDE_FIELDS]));
  const served = await serveDish(
    {
      definitions,
      service: spoiled(deviceService(definitions), () => misbehaviour),
      answer(request, done) {
        const { delayMs = 0, failWith, change } = misbehaviour;
        const answer = () => {
          if (failWith !== undefined) done({ code: failWith, details: 'requested failure' });
          else if (change === undefined) dish.handle(request, done);
          else {
            dish.handle(request, (error, response) => {
              if (response) done(null, change(response) as RawResponse);
              else done(error);
            });
          }
        };
        if (delayMs > 0) setTimeout(answer, delayMs);
        else answer();
      },
    },
    options,
  );
  return {
    ...served,
    misbehave(how) {
      misbehaviour = how;
      if (how.outage !== outages[0]?.cause) outages.unshift({ fromMs: dish.thisSecondMs(), cause: how.outage });
    },
    reboot: () => dish.reboot(),
  };
}

/** The service definition with answers that `misbehaviour` may cut or garble. */
function spoiled(definition: ServiceDefinition, misbehaviour: () => Misbehaviour): ServiceDefinition {
  const { Handle } = definition;
  const responseSerialize = (response: RawResponse): Buffer => {
    const { cutTo = 1, garble } = misbehaviour();
    const whole = Buffer.from(Handle!.responseSerialize(response) as Buffer);
    if (garble !== undefined) {
      for (let i = 0; i < whole.length; i++) if (garble() < 0.05) whole[i] = Math.floor(garble() * 256);
    }
    return whole.subarray(0, Math.floor(whole.length * cutTo));
  };
  return { ...definition, Handle: { ...Handle!, responseSerialize } };
}
