import { RondoError } from '@rondo/client';
import { Link } from '@tanstack/react-router';
import { problemText } from './problem-text.ts';

interface FailedPageProps {
  readonly error: unknown;
  /** Where others of its kind are. */
  readonly list: { readonly to: string; readonly name: string };
}

/** In place of a page that cannot be shown: why, and a way on. */
export function FailedPage({ error, list: { to, name } }: FailedPageProps) {
  const isMissing = error instanceof RondoError && error.status === 404;
  return (
    <div className="state">
      <h1>{isMissing ? 'It is not there' : 'It cannot be shown'}</h1>
      <p role="alert">{problemText(error)}</p>
      <p>
        <Link to={to}>{name}</Link>
      </p>
    </div>
  );
}
