import type { Run } from '@rondo/client';
import { type Draft, type NewMessage, Composer as PlainComposer, type WhileActive, isQuestion } from '@rondo/react';
import { useCallback, useId, useState } from 'react';
import { type Files, FilesChoice, toWorkspace } from '../run/files-choice.tsx';
import { useRondo } from '../session/use-session.ts';
import { useProblemText } from '../ui/problem-text.ts';
import { useUnsaved } from '../ui/unsaved.tsx';
import { type RunChoice, RunChoiceFields, noChoice, toRunFields } from '../ui/run-choice.tsx';
import type { Unsent } from './unsent.ts';

export interface EditedQuestion {
  readonly id: string;
  readonly text: string;
  /** A run of its thread. Absent: none has begun. */
  readonly runId: string | undefined;
  /** What answered it. */
  readonly choice: RunChoice;
  readonly cancel: () => void;
}

interface ComposerProps {
  readonly send: (message: NewMessage) => Promise<unknown>;
  /** What is written here, and what it begins with. */
  readonly unsent: Unsent;
  /** The run that is active, if one is. */
  readonly active?: Run | undefined;
  readonly unchosenAgent: string;
  readonly placeholder?: string;
  readonly starters?: readonly string[];
  /** A question that is asked anew. */
  readonly edited?: EditedQuestion | undefined;
}

/** Where a message is written, with what becomes of it. */
export function Composer({ placeholder = 'Reply', ...props }: ComposerProps) {
  const { send, unsent, active, unchosenAgent, starters, edited } = props;
  const [choice, setChoice] = useState<RunChoice>(edited?.choice ?? noChoice);
  const [whileActive, setWhileActive] = useState<WhileActive>('steer');
  const [files, setFiles] = useState<Files>('otherwise');
  const [isWritten, setWritten] = useState(false);
  useUnsaved(isWritten);
  const keep = useCallback(
    (hasDraft: boolean, draft: Draft) => {
      unsent.current = draft;
      setWritten(hasDraft);
    },
    [unsent],
  );
  const isAnswer = !edited && active !== undefined && isQuestion(active);
  const isTold = active !== undefined && !isAnswer && !edited;
  return (
    <PlainComposer
      rondo={useRondo()}
      send={(message) => send({ ...message, run: { ...toRunFields(choice), ...toWorkspace(files) }, whileActive })}
      isAnswer={isAnswer}
      text={edited?.text}
      draft={unsent.current}
      onDraft={keep}
      starters={starters}
      head={edited && <EditedHead edited={edited} isAtWork={active !== undefined} files={files} onFiles={setFiles} />}
      placeholder={isAnswer ? undefined : isTold ? 'Tell the agent something while it works' : placeholder}
      Problem={Problem}
    >
      {({ hasFiles }) =>
        isTold ? (
          <WhileActiveField value={whileActive} onChange={setWhileActive} hasFiles={hasFiles} />
        ) : (
          !isAnswer && <RunChoiceFields choice={choice} onChange={setChoice} unchosen={unchosenAgent} />
        )
      }
    </PlainComposer>
  );
}

function Problem({ error }: { readonly error: unknown }) {
  const text = useProblemText(error);
  return text === null ? null : (
    <p className="problem" role="alert">
      {text}
    </p>
  );
}

interface EditedHeadProps {
  readonly edited: EditedQuestion;
  readonly isAtWork: boolean;
  readonly files: Files;
  readonly onFiles: (files: Files) => void;
}

function EditedHead({ edited: { id, runId, cancel }, isAtWork, files, onFiles }: EditedHeadProps) {
  return (
    <>
      <p className="edited-line" role="status">
        Your last question is asked again. What followed it is removed from the conversation
        {isAtWork && ', and the run that is at work on it is stopped'}.
        <button type="button" className="quiet" onClick={cancel}>
          Leave it as it was
        </button>
      </p>
      {runId !== undefined && (
        <FilesChoice runId={runId} moment={{ message_id: id }} value={files} onChange={onFiles} />
      )}
    </>
  );
}

const ways: Record<WhileActive, readonly [name: string, what: string]> = {
  steer: ['Tell the run at work', 'The agent reads it before its next step, and goes on.'],
  queue: ['Begin after it', 'A new run begins with it when this one has ended.'],
  replace: ['Stop it, and begin', 'This run is stopped, and a new one begins with it.'],
};

interface WhileActiveFieldProps {
  readonly value: WhileActive;
  readonly onChange: (value: WhileActive) => void;
  /** A run at work gets no files: what it would be told waits for the run after it. */
  readonly hasFiles: boolean;
}

function WhileActiveField({ value, onChange, hasFiles }: WhileActiveFieldProps) {
  const all = Object.keys(ways) as WhileActive[]; // the keys of this very record
  const names = hasFiles ? all.filter((name) => name !== 'steer') : all;
  const chosen = hasFiles && value === 'steer' ? 'queue' : value;
  const id = useId();
  return (
    <>
      <select
        aria-label="When it is read"
        aria-describedby={id}
        value={chosen}
        onChange={({ currentTarget }) => onChange(names[currentTarget.selectedIndex] ?? 'steer')}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {ways[name][0]}
          </option>
        ))}
      </select>
      <span id={id} className="hint" role="status">
        {hasFiles && value === 'steer' && 'A run at work gets no files. '}
        {ways[chosen][1]}
      </span>
    </>
  );
}
