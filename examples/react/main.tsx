import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Player } from './player.tsx';

function App() {
  const [url, setUrl] = useState('http://127.0.0.1:8788/stream.m3u8');
  const [isMounted, setMounted] = useState(true);
  const [lines, setLines] = useState('');
  return (
    <>
      {isMounted && <Player url={url} onDecision={(line) => setLines((lines) => lines + line)} />}
      <button type="button" onClick={() => setUrl('http://127.0.0.1:8788/stream.m3u8?next')}>
        Next stream
      </button>
      <button type="button" onClick={() => setMounted(!isMounted)}>
        Unmount
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
