import { ConnectionError, RondoError } from '@rondo/client';
import { QueryClient, QueryClientProvider, onlineManager } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Console } from './console.tsx';
import { preloadPage } from './routes.tsx';
import { onReturn } from './session/connection.ts';
import { applyTheme, readTheme } from './shell/theme-switch.tsx';

applyTheme(readTheme());

preloadPage(); // it comes while the session does

const root = document.getElementById('root');
if (!root) throw new Error('The page has no place for the console.');
/** What the end of the session refused waits for the next one, see `EndedSession`; the page keeps what it shows. */
const retry = (failures: number, error: Error): boolean =>
  failures < 1 || (error instanceof RondoError && error.status === 401);
const queries = new QueryClient({ defaultOptions: { queries: { staleTime: 1_000, retry } } });
/** Whether the gateway can be reached is said by its answers: a browser that is offline still reaches one of its own machine. */
onlineManager.setEventListener(() => undefined);
onReturn(() => {
  void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.error instanceof ConnectionError });
});
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Console />
    </QueryClientProvider>
  </StrictMode>,
);
