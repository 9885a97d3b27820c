import { requireReadable } from '@rondo/react';
import { type ChangeEvent, type DragEvent, useRef, useState } from 'react';
import { problemText } from './problem-text.ts';

interface DropFilesProps {
  readonly button: string;
  /** What the field is called. */
  readonly label: string;
  /** Beside the button, until something is uploaded. */
  readonly hint: string;
  readonly isMultiple?: boolean;
  /** Types of files that the browser offers. */
  readonly accept?: string;
  /** Resolves with what is said of it. `say` tells how far it is. */
  readonly upload: (files: readonly File[], say: (words: string) => void) => Promise<string>;
}

/** Files that are chosen or dropped are uploaded. What is refused is said there. */
export function DropFiles({ button, label, hint, isMultiple = false, accept, upload }: DropFilesProps) {
  const field = useRef<HTMLInputElement>(null);
  const [state, setState] = useState({ words: '', isProblem: false });
  const say = (words: string) => setState({ words, isProblem: false });
  const begin = (list: FileList | null) => {
    const files = [...(list ?? [])]; // the list is emptied with its field
    if (files.length > 0)
      Promise.all(files.map(requireReadable))
        .then(() => upload(files, say))
        .then(say)
        .catch((error: unknown) => setState({ words: problemText(error), isProblem: true }));
  };
  const choose = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    begin(currentTarget.files);
    currentTarget.value = '';
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    begin(event.dataTransfer.files);
  };
  return (
    <div className="upload" onDrop={drop} onDragOver={(event) => event.preventDefault()}>
      <input
        type="file"
        {...{ ref: field, hidden: true, multiple: isMultiple, accept }}
        aria-label={label}
        onChange={choose}
      />
      <button onClick={() => field.current?.click()}>{button}</button>
      <span className={state.isProblem ? 'problem' : 'hint'} role="status">
        {state.words === '' ? hint : state.words}
      </span>
    </div>
  );
}
