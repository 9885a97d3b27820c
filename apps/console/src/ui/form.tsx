import { type ReactNode, type SubmitEvent, useRef, useState } from 'react';
import { type FieldPlaces, RefusalsContext, useFieldWork } from './refusals.ts';
import { useUnsaved } from './unsaved.tsx';

interface FormProps {
  /** Gets the fields. What is refused of one of them is said below it, and all else below the form. */
  readonly work: (fields: FormData) => Promise<unknown>;
  readonly button: string;
  readonly children: ReactNode;
  readonly label?: string;
  readonly cancel?: (() => void) | undefined;
  readonly places?: FieldPlaces;
}

/** Fields, and a button that takes time and may fail. */
export function Form({ work, button, children, label, cancel, places }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isChanged, setChanged] = useState(false);
  const { isBusy, refusals, problem, start } = useFieldWork(form, places);
  useUnsaved(isChanged && !isBusy);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    void start(() => work(fields)).then((isDone) => isDone && setChanged(false));
  };
  return (
    <form ref={form} className="form" onSubmit={submit} onChange={() => setChanged(true)} aria-label={label}>
      <RefusalsContext value={refusals}>{children}</RefusalsContext>
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="actions">
        <button className="primary" aria-disabled={isBusy}>
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
