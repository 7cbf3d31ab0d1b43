import '@videojs/react/video/skin.css';
import { HlsJsVideo } from '@videojs/react/media/hlsjs-video';
import { VideoPlayer, VideoSkin } from '@videojs/react/video';
import { createLeoAbrController } from 'leo-abr/hls';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

const leoAbr = createLeoAbrController();
const engine = { hlsJs: { abrController: leoAbr } };

function App() {
  const [src, setSrc] = useState('http://127.0.0.1:8788/stream.m3u8');
  const [lines, setLines] = useState('');

  useEffect(
    () =>
      leoAbr.handle.on('decision', ({ state, representationId, decision }) => {
        setLines((lines) => `${lines}${state.segmentIndex} ${representationId}: ${decision.reason}\n`);
      }),
    [],
  );

  return (
    <>
      <VideoPlayer>
        <VideoSkin>
          <HlsJsVideo source={{ src, engine }} muted autoPlay />
        </VideoSkin>
      </VideoPlayer>
      <button type="button" onClick={() => setSrc('http://127.0.0.1:8788/stream.m3u8?next')}>
        Next stream
      </button>
      <button type="button" onClick={() => leoAbr.handle.detach()}>
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
