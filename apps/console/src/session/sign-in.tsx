import { type SubmitEvent, useState } from 'react';
import { problemText } from '../ui/problem-text.ts';
import { Mark } from '../shell/mark.tsx';
import { signInWith } from './session.ts';

/** Asks for an API key. */
export function SignIn({ onSignedIn }: { readonly onSignedIn: () => void }) {
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
        Paste an API key. With <code>npm start</code> it is in <code>.data/api-key</code>. It stays in this tab and is
        forgotten when the tab is closed.
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
