import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Player } from './player.tsx';

createRoot(document.querySelector('#app')!).render(
  <StrictMode>
    <Player url="http://127.0.0.1:8788/stream.m3u8" />
  </StrictMode>,
);
