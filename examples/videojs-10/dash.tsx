import '@videojs/react/video/skin.css';
import { useMedia } from '@videojs/react';
import { DashVideo } from '@videojs/react/media/dash-video';
import { VideoPlayer, VideoSkin } from '@videojs/react/video';
import { attachLeoAbr } from 'leo-abr';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** Attaches the plugin to the player around it, while it is mounted. */
function LeoAbr({ onDecision }: { onDecision(line: string): void }) {
  const media = useMedia();
  useEffect(() => {
    if (!media) return;
    const handle = attachLeoAbr(media.engine);
    handle.on('decision', ({ state, representationId, decision }) => {
      onDecision(`${state.segmentIndex} ${representationId}: ${decision.reason}\n`);
    });
    return () => handle.detach();
  }, [media, onDecision]);
  return null;
}

function App() {
  const [src, setSrc] = useState('http://127.0.0.1:8788/stream.mpd');
  const [isAttached, setAttached] = useState(true);
  const [lines, setLines] = useState('');
  const [onDecision] = useState(() => (line: string) => setLines((lines) => lines + line));

  return (
    <>
      <VideoPlayer>
        <VideoSkin>
          <DashVideo src={src} muted autoPlay />
        </VideoSkin>
        {isAttached && <LeoAbr onDecision={onDecision} />}
      </VideoPlayer>
      <button type="button" onClick={() => setSrc('http://127.0.0.1:8788/stream.mpd?next')}>
        Next stream
      </button>
      <button type="button" onClick={() => setAttached(false)}>
        Detach
      </button>
      <pre>{lines}</pre>
    </>
  );
}

createRoot(document.querySelector('#app')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
