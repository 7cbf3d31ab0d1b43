import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Player } from './player.tsx';

createRoot(document.querySelector('#app')!).render(
  <StrictMode>
    <Player url="https://example.org/stream.m3u8" />
  </StrictMode>,
);
