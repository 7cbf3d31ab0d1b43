import Hls from 'hls.js';
import { createLeoAbrController } from 'leo-abr/hls';
import { useEffect, useRef, useState } from 'react';

/** Plays an HLS stream and shows the latest decision. */
export function Player({ url }: { url: string }) {
  const video = useRef<HTMLVideoElement>(null);
  const [decision, setDecision] = useState('');

  useEffect(() => {
    const leoAbr = createLeoAbrController();
    leoAbr.handle.on('decision', ({ state, representationId, decision }) => {
      setDecision(`${state.segmentIndex} ${representationId}: ${decision.reason}`);
    });
    const hls = new Hls({ abrController: leoAbr });
    hls.loadSource(url);
    hls.attachMedia(video.current!);
    return () => hls.destroy();
  }, [url]);

  return (
    <>
      <video ref={video} muted autoPlay controls width={640} />
      <pre>{decision}</pre>
    </>
  );
}
