/** Validates a player state from outside: from users of the API or from recordings. Not for inner loops. */

import type { PlayerState } from './controller.ts';
import { InputError, requireInteger, requireNonNegative, requirePositive } from './errors.ts';

/** Throws `InputError` for the first invalid field. */
export function validatePlayerState(state: PlayerState): void {
  if (typeof state !== 'object' || state === null) throw new InputError('state', 'an object', state);
  requireNonNegative(state.nowSeconds, 'state.nowSeconds');
  if (state.utcMs !== undefined && !Number.isFinite(state.utcMs)) {
    throw new InputError('state.utcMs', 'a finite number or undefined', state.utcMs);
  }
  requireBoolean(state.started, 'state.started');
  requirePositive(state.playbackRate, 'state.playbackRate');
  requireBoolean(state.isPaused, 'state.isPaused');
  requireNonNegative(state.bufferLevelSeconds, 'state.bufferLevelSeconds');
  if (!(state.bufferCapSeconds > 0)) {
    throw new InputError('state.bufferCapSeconds', 'a number > 0 (Infinity: no cap)', state.bufferCapSeconds);
  }
  requirePositive(state.segmentSeconds, 'state.segmentSeconds');
  requireInteger(state.segmentIndex, 'state.segmentIndex', { min: 0, max: Number.MAX_SAFE_INTEGER });
  if (state.segmentsRemaining !== Number.POSITIVE_INFINITY) {
    requireInteger(state.segmentsRemaining, 'state.segmentsRemaining', { min: 1, max: Number.MAX_SAFE_INTEGER });
  }
  validateLadder(state.ladderBps);
  validateSizes(state.upcomingSizesBits, state.ladderBps.length);
  if (state.previousBitrateBps !== undefined) requirePositive(state.previousBitrateBps, 'state.previousBitrateBps');
  validateDownloads(state.downloads);
  validateWeights(state);
}

function validateLadder(ladderBps: readonly number[]): void {
  requireArray(ladderBps, 'state.ladderBps');
  if (ladderBps.length === 0) throw new InputError('state.ladderBps', 'at least one bitrate', ladderBps);
  ladderBps.forEach((bitrateBps, r) => {
    requirePositive(bitrateBps, `state.ladderBps[${r}]`);
    if (r > 0 && bitrateBps < ladderBps[r - 1]!) {
      throw new InputError(`state.ladderBps[${r}]`, `a bitrate >= the one before (${ladderBps[r - 1]})`, bitrateBps);
    }
  });
}

function validateSizes(rows: PlayerState['upcomingSizesBits'], count: number): void {
  requireArray(rows, 'state.upcomingSizesBits');
  if (rows.length === 0) throw new InputError('state.upcomingSizesBits', 'at least one row', rows);
  rows.forEach((row, k) => {
    requireArray(row, `state.upcomingSizesBits[${k}]`);
    if (row.length !== count) {
      throw new InputError(`state.upcomingSizesBits[${k}]`, `${count} sizes, one per representation`, row);
    }
    row.forEach((bits, r) => {
      requirePositive(bits, `state.upcomingSizesBits[${k}][${r}]`);
    });
  });
}

function validateDownloads(downloads: PlayerState['downloads']): void {
  requireArray(downloads, 'state.downloads');
  downloads.forEach((download, i) => {
    const field = `state.downloads[${i}]`;
    requireInteger(download.segmentIndex, `${field}.segmentIndex`, { min: 0, max: Number.MAX_SAFE_INTEGER });
    requirePositive(download.bitrateBps, `${field}.bitrateBps`);
    requireNonNegative(download.receivedBits, `${field}.receivedBits`);
    requirePositive(download.sizeBits, `${field}.sizeBits`);
    requireNonNegative(download.requestedAtSeconds, `${field}.requestedAtSeconds`);
    requireNonNegative(download.downloadSeconds, `${field}.downloadSeconds`);
  });
}

function validateWeights({ weights, ladderBps }: PlayerState): void {
  if (typeof weights?.quality !== 'function') {
    throw new InputError('state.weights.quality', 'a function of bit/s', weights?.quality);
  }
  requireNonNegative(weights.mu, 'state.weights.mu');
  requireNonNegative(weights.lambda, 'state.weights.lambda');
  for (const bitrateBps of ladderBps) {
    const quality = weights.quality(bitrateBps);
    if (!Number.isFinite(quality)) {
      throw new InputError(`state.weights.quality(${bitrateBps})`, 'a finite number', quality);
    }
  }
}

function requireBoolean(value: unknown, field: string): void {
  if (typeof value !== 'boolean') throw new InputError(field, 'true or false', value);
}

function requireArray(value: unknown, field: string): void {
  if (!Array.isArray(value)) throw new InputError(field, 'an array', value);
}
