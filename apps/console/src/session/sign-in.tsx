import type { Session } from '@rondo/client';
import { type SubmitEvent, useState } from 'react';
import { problemText } from '../ui/problem-text.ts';
import { Mark } from '../shell/mark.tsx';
import { signInWith } from './session.ts';

/** Asks for an API key. */
export function SignIn({ onSignedIn }: { readonly onSignedIn: (who: Session) => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get('key');
    if (typeof key !== 'string' || key.trim() === '') return;
    setBusy(true);
    signInWith(key.trim())
      .then(onSignedIn, (error: unknown) => setProblem(problemText(error)))
      .finally(() => setBusy(false));
  };

  return (
    <main className="sign-in">
      <Mark />
      <h1>Sign in to Rondo</h1>
      <p>
        Open the link that <code>npm start</code> or <code>rondo console</code> prints, or paste an API key. The key is
        exchanged for a cookie and not kept.
      </p>
      <form onSubmit={submit}>
        <label htmlFor="key">API key</label>
        <input id="key" name="key" type="password" autoComplete="off" spellCheck={false} required autoFocus />
        {problem !== null && <p role="alert">{problem}</p>}
        <button className="primary" disabled={isBusy}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
