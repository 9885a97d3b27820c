import { RondoError, type Session } from '@rondo/client';
import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import { problemText } from '../ui/problem-text.ts';
import { Mark } from '../ui/mark.tsx';
import { findCaller, signInWith } from '../session/session.ts';

interface SignInProps {
  readonly onSignedIn: (who: Session) => void;
}

/** Asks for an API key. */
export function SignIn({ onSignedIn }: SignInProps) {
  return (
    <main className="sign-in">
      <Mark />
      <h1>Sign in to Rondo</h1>
      <p>
        Open the link that <code>npm start</code> or <code>rondo console</code> prints, or paste an API key. The key is
        exchanged for a cookie and not kept.
      </p>
      <KeyForm signIn={signInWith} onSignedIn={onSignedIn} />
    </main>
  );
}

interface SignInAgainProps extends SignInProps {
  /** Whose the page is. */
  readonly who: Session;
}

/** Asks again over the page, which keeps what was typed into it. It cannot be closed otherwise: nothing below it would work. */
export function SignInAgain({ who, onSignedIn }: SignInAgainProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  /** With a key of another account the page would be another one, without what was typed. */
  const signIn = async (key: string) => {
    const { account_id: id, account_name: name = id } = await findCaller(key);
    if (id !== who.account_id)
      throw new Error(
        `This key is of the account “${name}”, and this page is of “${who.account_name ?? who.account_id}”.`,
      );
    return signInWith(key);
  };
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="modal sign-in-again"
      aria-labelledby="sign-in-again"
      onCancel={(event) => event.preventDefault()}
    >
      <h2 id="sign-in-again">Sign in again</h2>
      <p>
        The session has ended: its time is over, or its key was revoked. The page stays as it is, with what you have
        typed.
      </p>
      <KeyForm signIn={signIn} onSignedIn={onSignedIn} />
      <p>
        <button className="quiet" onClick={() => location.reload()}>
          Sign in to another account
        </button>
      </p>
    </dialog>
  );
}

interface KeyFormProps extends SignInProps {
  readonly signIn: (key: string) => Promise<Session>;
}

function KeyForm({ signIn, onSignedIn }: KeyFormProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get('key');
    if (typeof key !== 'string' || key.trim() === '') return;
    setBusy(true);
    signIn(key.trim())
      .then(onSignedIn, (error: unknown) => setProblem(refusalText(error)))
      .finally(() => setBusy(false));
  };

  return (
    <form onSubmit={submit}>
      <label htmlFor="key">API key</label>
      <input id="key" name="key" type="password" autoComplete="off" spellCheck={false} required autoFocus />
      {problem !== null && <p role="alert">{problem}</p>}
      <button className="primary" disabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </button>
    </form>
  );
}

/** Here the key is the one that was just pasted. */
const refusalText = (error: unknown): string =>
  error instanceof RondoError && error.status === 401 ? 'The gateway does not accept this key.' : problemText(error);
