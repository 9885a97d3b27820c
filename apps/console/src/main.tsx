import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Console } from './console.tsx';
import { applyTheme, storedTheme } from './ui/theme.ts';

applyTheme(storedTheme());

const root = document.getElementById('root');
if (!root) throw new Error('The page has no place for the console.');
const queries = new QueryClient({ defaultOptions: { queries: { staleTime: 1_000, retry: 1 } } });
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Console />
    </QueryClientProvider>
  </StrictMode>,
);
