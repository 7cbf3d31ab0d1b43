import Hls from 'hls.js';
import { createLeoAbrController } from 'leo-abr/hls';
import { useEffect, useEffectEvent, useRef } from 'react';

/** Plays an HLS stream and reports each decision as a line. */
export function Player({ url, onDecision }: { url: string; onDecision(line: string): void }) {
  const video = useRef<HTMLVideoElement>(null);
  const report = useEffectEvent(onDecision);

  useEffect(() => {
    const leoAbr = createLeoAbrController();
    leoAbr.handle.on('decision', ({ state, representationId, decision }) => {
      report(`${state.segmentIndex} ${representationId}: ${decision.reason}\n`);
    });
    const hls = new Hls({ abrController: leoAbr });
    hls.loadSource(url);
    hls.attachMedia(video.current!);
    return () => hls.destroy();
  }, [url]);

  return <video ref={video} muted autoPlay controls width={640} />;
}
