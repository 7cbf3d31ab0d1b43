import { attachLeoAbr, type LeoAbrHandle } from 'leo-abr';
import { StrictMode, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import ReactPlayer from 'react-player';

function App() {
  const video = useRef<HTMLVideoElement>(null);
  const handle = useRef<LeoAbrHandle>(null);
  const [src, setSrc] = useState('http://127.0.0.1:8788/stream.mpd');
  const [lines, setLines] = useState('');

  const attach = () => {
    if (handle.current || !video.current?.api) return;
    handle.current = attachLeoAbr(video.current.api);
    handle.current.on('decision', ({ state, representationId, decision }) => {
      setLines((lines) => `${lines}${state.segmentIndex} ${representationId}: ${decision.reason}\n`);
    });
  };

  // The element may have its player before React listens to it.
  const ready = (element: HTMLVideoElement | null) => {
    video.current = element;
    attach();
  };

  return (
    <>
      <ReactPlayer ref={ready} src={src} onReady={attach} playing muted controls />
      <button type="button" onClick={() => setSrc('http://127.0.0.1:8788/stream.mpd?next')}>
        Next stream
      </button>
      <button type="button" onClick={() => handle.current?.detach()}>
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
