import { type ReactNode, type SubmitEvent, useState } from 'react';
import { useProblem } from './problem-text.ts';

interface FormProps {
  /** Gets the fields. What it throws is shown below them. */
  readonly work: (fields: FormData) => Promise<unknown>;
  readonly button: string;
  readonly children: ReactNode;
  readonly label?: string;
  readonly cancel?: (() => void) | undefined;
}

/** Fields, and a button that takes time and may fail. */
export function Form({ work, button, children, label, cancel }: FormProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useProblem();
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    work(new FormData(event.currentTarget))
      .catch(setProblem)
      .finally(() => setBusy(false));
  };
  return (
    <form className="form" onSubmit={submit} aria-label={label}>
      {children}
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="actions">
        <button className="primary" disabled={isBusy}>
          {button}
        </button>
        {cancel && (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

/** The trimmed text of a field; empty if it is not there. */
export function toText(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** The number of a field; undefined if it is empty. */
export function readNumber(fields: FormData, name: string): number | undefined {
  const text = toText(fields, name);
  return text === '' ? undefined : Number(text);
}
