import type { Run } from '@rondo/client';
import { type NewMessage, Composer as PlainComposer, type WhileActive, isQuestion } from '@rondo/react';
import { useState } from 'react';
import { type Files, FilesChoice, toWorkspace } from '../run/files-choice.tsx';
import { useRondo } from '../session/use-session.ts';
import { useProblemText } from '../ui/use-problem.ts';
import { type RunChoice, RunChoiceFields, noChoice, toRunFields } from './run-choice.tsx';

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
  /** The run that is active, if one is. */
  readonly active?: Run | undefined;
  readonly unchosenAgent: string;
  /** A question that is asked anew. */
  readonly edited?: EditedQuestion | undefined;
}

/** Where a message is written, with what becomes of it. */
export function Composer({ send, active, unchosenAgent, edited }: ComposerProps) {
  const [choice, setChoice] = useState<RunChoice>(edited?.choice ?? noChoice);
  const [whileActive, setWhileActive] = useState<WhileActive>('steer');
  const [files, setFiles] = useState<Files>('otherwise');
  const isAnswer = !edited && active !== undefined && isQuestion(active);
  return (
    <PlainComposer
      rondo={useRondo()}
      send={(message) => send({ ...message, run: { ...toRunFields(choice), ...toWorkspace(files) }, whileActive })}
      isAnswer={isAnswer}
      text={edited?.text}
      head={edited && <EditedHead edited={edited} files={files} onFiles={setFiles} />}
      Problem={Problem}
    >
      {active && !isAnswer && !edited && <WhileActiveField value={whileActive} onChange={setWhileActive} />}
      {(!active || edited) && <RunChoiceFields choice={choice} onChange={setChoice} unchosen={unchosenAgent} />}
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
  readonly files: Files;
  readonly onFiles: (files: Files) => void;
}

function EditedHead({ edited: { id, runId, cancel }, files, onFiles }: EditedHeadProps) {
  return (
    <>
      <p className="edited-line" role="status">
        Your last question is asked anew: what followed it is withdrawn from the conversation.
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

const ways: Record<WhileActive, string> = {
  steer: 'Tell the run at work',
  queue: 'Begin after it',
  replace: 'Stop it, and begin',
};

interface WhileActiveFieldProps {
  readonly value: WhileActive;
  readonly onChange: (value: WhileActive) => void;
}

function WhileActiveField({ value, onChange }: WhileActiveFieldProps) {
  const names = Object.keys(ways) as WhileActive[]; // the keys of this very record
  return (
    <select
      aria-label="When it is read"
      value={value}
      onChange={({ currentTarget }) => onChange(names[currentTarget.selectedIndex] ?? 'steer')}
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {ways[name]}
        </option>
      ))}
    </select>
  );
}
