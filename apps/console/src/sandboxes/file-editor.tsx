import { plainText } from '@rondo/react';
import { useDeferredValue } from 'react';
import { DiffView } from '../diff/diff-view.tsx';
import { Action } from '../ui/action.tsx';
import { useUnsaved } from '../ui/unsaved.tsx';

interface FileEditorProps {
  readonly path: string;
  /** As the file is. */
  readonly before: string;
  readonly text: string;
  /** Null: the file stays as it is. */
  readonly onChange: (text: string | null) => void;
  readonly save: () => Promise<void>;
}

/** The text of a file, and below it what a save would change. */
export function FileEditor({ path, before, text, onChange, save }: FileEditorProps) {
  const compared = useDeferredValue(text);
  useUnsaved(text !== before);
  return (
    <>
      <textarea
        dir="auto"
        className="code"
        aria-label={`Content of ${plainText(path)}`}
        rows={Math.min(30, text.split('\n').length + 2)}
        spellCheck={false}
        value={text}
        autoFocus
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <div className="actions">
        <Action className="primary" work={save}>
          Save
        </Action>
        <button onClick={() => onChange(null)}>Cancel</button>
      </div>
      {compared !== before && <DiffView label="What a save changes" before={before} after={compared} />}
    </>
  );
}
