/** Loads a player. Each player is a chunk of its own. */

import type { PlayerName } from '../../algorithms.ts';
import type { PlayerContext, TestPlayer } from './test-player.ts';

const LOADERS: Record<PlayerName, () => Promise<(context: PlayerContext) => TestPlayer>> = {
  dash: async () => (await import('./dash-player.ts')).dashPlayer,
  hls: async () => (await import('./hls-player.ts')).hlsPlayer,
  shaka: async () => (await import('./shaka-player.ts')).shakaPlayer,
};

export const loadPlayer = (name: PlayerName) => LOADERS[name]();
