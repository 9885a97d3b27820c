import type { Run } from '@rondo/client';
import { type NewMessage, Composer as PlainComposer, type WhileActive, isQuestion } from '@rondo/react';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { useProblemText } from '../ui/use-problem.ts';
import { type RunChoice, RunChoiceFields, noChoice, toRunFields } from './run-choice.tsx';

export interface EditedQuestion {
  readonly id: string;
  readonly text: string;
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
  const [whileActive, setWhileActive] = useState<WhileActive>('tell');
  const isAnswer = !edited && active !== undefined && isQuestion(active);
  return (
    <PlainComposer
      rondo={useRondo()}
      send={(message) => send({ ...message, run: toRunFields(choice), whileActive })}
      isAnswer={isAnswer}
      text={edited?.text}
      head={edited && <EditedLine cancel={edited.cancel} />}
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

function EditedLine({ cancel }: { readonly cancel: () => void }) {
  return (
    <p className="edited-line" role="status">
      Your last question is asked anew: what followed it is withdrawn from the conversation. Files stay as they are.
      <button type="button" className="quiet" onClick={cancel}>
        Leave it as it was
      </button>
    </p>
  );
}

const ways: Record<WhileActive, string> = {
  tell: 'Tell the run that is active',
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
      onChange={({ currentTarget }) => onChange(names[currentTarget.selectedIndex] ?? 'tell')}
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {ways[name]}
        </option>
      ))}
    </select>
  );
}
