import '@videojs/react/video/skin.css';
import { useMedia } from '@videojs/react';
import { ShakaVideo } from '@videojs/react/media/shaka-video';
import { VideoPlayer, VideoSkin } from '@videojs/react/video';
import { createLeoAbrFactory, type LeoAbrFactory } from 'leo-abr/shaka';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** Gives the plugin to the player around it, once. */
function LeoAbr({ onAttached }: { onAttached(leoAbr: LeoAbrFactory): void }) {
  const media = useMedia();
  useEffect(() => {
    if (!media) return;
    const leoAbr = createLeoAbrFactory(media.engine);
    media.engine.configure({ abrFactory: leoAbr });
    onAttached(leoAbr);
    return () => leoAbr.handle.detach();
  }, [media, onAttached]);
  return null;
}

function App() {
  const [src, setSrc] = useState('http://127.0.0.1:8788/stream.mpd');
  const [leoAbr, setLeoAbr] = useState<LeoAbrFactory>();
  const [lines, setLines] = useState('');
  const [onAttached] = useState(() => (leoAbr: LeoAbrFactory) => {
    leoAbr.handle.on('decision', ({ state, representationId, decision }) => {
      setLines((lines) => `${lines}${state.segmentIndex} ${representationId}: ${decision.reason}\n`);
    });
    setLeoAbr(() => leoAbr);
  });

  return (
    <>
      <VideoPlayer>
        <VideoSkin>
          <ShakaVideo src={leoAbr ? src : ''} muted autoPlay />
        </VideoSkin>
        <LeoAbr onAttached={onAttached} />
      </VideoPlayer>
      <button type="button" onClick={() => setSrc('http://127.0.0.1:8788/stream.mpd?next')}>
        Next stream
      </button>
      <button type="button" onClick={() => leoAbr?.handle.detach()}>
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
