/** Loads a player: each is a chunk of its own. */

import type { PlayerName } from '../../forecasters.ts';
import type { PlayerContext, TestPlayer } from './test-player.ts';

export async function loadPlayer(name: PlayerName): Promise<(context: PlayerContext) => TestPlayer> {
  switch (name) {
    case 'dash':
      return (await import('./dash-player.ts')).dashPlayer;
    case 'hls':
      return (await import('./hls-player.ts')).hlsPlayer;
    case 'shaka':
      return (await import('./shaka-player.ts')).shakaPlayer;
  }
}
