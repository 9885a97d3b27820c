import type { Run } from '@rondo/client';
import { type NewMessage, type WhileActive, useAttachments } from '@rondo/react';
import { type DragEvent, type KeyboardEvent, type SubmitEvent, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { useProblem } from '../ui/use-problem.ts';
import { AttachButton, AttachmentList } from './attachment-list.tsx';
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

/** Where a message is written. Files can be chosen, dropped and pasted. */
export function Composer({ send, active, unchosenAgent, edited }: ComposerProps) {
  const [text, setText] = useState(edited?.text ?? '');
  const [choice, setChoice] = useState<RunChoice>(edited?.choice ?? noChoice);
  const [whileActive, setWhileActive] = useState<WhileActive>('tell');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useProblem();
  const attachments = useAttachments(useRondo());
  const isAnswer = !edited && active?.status === 'waiting_input' && active.waiting?.reason === 'ask';
  const cannotSend = text.trim() === '' || attachments.isUploading || isBusy;

  const submit = (event?: SubmitEvent) => {
    event?.preventDefault();
    if (cannotSend) return;
    setBusy(true);
    setProblem(null);
    send({ text, files: attachments.ids, run: toRunFields(choice), whileActive })
      .then(() => {
        setText('');
        attachments.clear();
      }, setProblem)
      .finally(() => setBusy(false));
  };
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    attachments.add(event.dataTransfer.files);
  };
  return (
    <form className="composer" onSubmit={submit} onDrop={drop} onDragOver={(e) => e.preventDefault()}>
      {edited && <EditedLine cancel={edited.cancel} />}
      <AttachmentList attachments={attachments} />
      <textarea
        dir="auto"
        aria-label={isAnswer ? 'Your answer' : 'Message'}
        placeholder={isAnswer ? 'Your answer' : 'Message'}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        autoFocus={edited !== undefined}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={sendByKey}
        onPaste={({ clipboardData }) => attachments.add(clipboardData.files)}
      />
      {problem !== null && <Problem text={problem} />}
      <div className="composer-line">
        <AttachButton attachments={attachments} />
        {active && !isAnswer && !edited && <WhileActiveField value={whileActive} onChange={setWhileActive} />}
        {(!active || edited) && <RunChoiceFields choice={choice} onChange={setChoice} unchosen={unchosenAgent} />}
        <button className="primary" disabled={cannotSend}>
          Send
        </button>
      </div>
    </form>
  );
}

function Problem({ text }: { readonly text: string }) {
  return (
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
