import type { ReactNode } from 'react';
import { problemText } from './problem-text.ts';

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="state" role="status">
      Loading {what} …
    </p>
  );
}

export function Failed({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  return (
    <div className="state failed" role="alert">
      <p>{problemText(error)}</p>
      {retry && <button onClick={retry}>Try again</button>}
    </div>
  );
}

/** What a page says that has nothing to show. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="state empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
