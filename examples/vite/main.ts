import { MediaPlayer } from 'dashjs';
import { attachLeoAbr } from 'leo-abr';

const player = MediaPlayer().create();
const handle = attachLeoAbr(player);
handle.on('decision', ({ state, representationId, decision }) => {
  document.querySelector('pre')!.append(`${state.segmentIndex} ${representationId}: ${decision.reason}\n`);
});
player.initialize(document.querySelector('video')!, 'http://127.0.0.1:8788/stream.mpd', true);
