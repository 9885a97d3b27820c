import type { ReactNode } from 'react';
import { useMay } from '../session/use-session.ts';
import { count } from './amounts.ts';
import { isMissing, problemText } from './problem-text.ts';
import { Link } from '@tanstack/react-router';

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="state" role="status">
      Loading {what} …
    </p>
  );
}

export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
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

/** The first items of a list, as `take` gives them. */
export interface Listed<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

interface NotAllProps {
  /** Undefined while it is loading. */
  readonly list: Listed<unknown> | undefined;
  readonly what: string;
}

/** Below a list that has more than is shown. */
export const NotAll = ({ list, what }: NotAllProps) =>
  list?.hasMore === true && (
    <p className="hint">
      Only {count(list.items.length)} {what} are shown; there are more.
    </p>
  );

/** What an empty page offers to those who may: a conversation, whose runs will be there. */
export const BeginThread = () =>
  useMay('write') && (
    <p>
      <Link to="/threads/new" className="button">
        Begin a thread
      </Link>
    </p>
  );

interface FailedPageProps {
  readonly error: unknown;
  /** Where others of its kind are. */
  readonly list: { readonly to: string; readonly name: string };
}

/** In place of a page that cannot be shown: why, and a way on. */
export function FailurePage({ error, list: { to, name } }: FailedPageProps) {
  return (
    <div className="state">
      <h1>{isMissing(error) ? 'Not found' : 'This cannot be shown now'}</h1>
      <p role="alert">{problemText(error)}</p>
      {!isMissing(error) && <button onClick={() => location.reload()}>Try again</button>}
      <p>
        <Link to={to}>{name}</Link>
      </p>
    </div>
  );
}
