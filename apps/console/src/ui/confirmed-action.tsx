import { useId, useRef } from 'react';
import { Action } from './action.tsx';

interface ConfirmedActionProps {
  /** What the button says, and the one that confirms it. */
  readonly name: string;
  /** What follows from it, as a question. */
  readonly question: string;
  readonly work: () => Promise<unknown>;
  readonly label?: string;
  readonly className?: string;
}

/** A button for what cannot be undone: it asks first. */
export function ConfirmedAction({ name, question, work, label, className = 'danger' }: ConfirmedActionProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const close = () => dialog.current?.close();
  return (
    <>
      <button type="button" className={className} aria-label={label} onClick={() => dialog.current?.showModal()}>
        {name}
      </button>
      <dialog ref={dialog} aria-labelledby={title}>
        <p id={title}>{question}</p>
        <div className="actions">
          <Action className="danger" work={() => work().then(close)}>
            {name}
          </Action>
          <button type="button" autoFocus onClick={close}>
            Cancel
          </button>
        </div>
      </dialog>
    </>
  );
}
