import { isHLSProvider, MediaPlayer, MediaProvider, type MediaProviderAdapter } from '@vidstack/react';
import Hls from 'hls.js';
import { createLeoAbrController } from 'leo-abr/hls';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

const leoAbr = createLeoAbrController();

function addLeoAbr(provider: MediaProviderAdapter | null) {
  if (!isHLSProvider(provider)) return;
  provider.library = Hls;
  provider.config = { abrController: leoAbr };
}

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
      <MediaPlayer src={src} onProviderChange={addLeoAbr} muted autoPlay>
        <MediaProvider />
      </MediaPlayer>
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
