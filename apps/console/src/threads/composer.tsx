import type { Run } from '@rondo/client';
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, type SubmitEvent, useState } from 'react';
import { problemText } from '../ui/problem-text.ts';
import { AttachButton, AttachmentList } from './attachment-list.tsx';
import { type RunChoice, RunChoiceFields, noChoice } from './run-choice.tsx';
import type { NewWords, WhileActive } from './send-message.ts';
import { useAttachments } from './use-attachments.ts';

interface ComposerProps {
  readonly send: (words: NewWords) => Promise<unknown>;
  /** The run that is active, if one is. */
  readonly active?: Run | undefined;
  readonly unchosenAgent: string;
}

/** Where a message is written. Files can be chosen, dropped and pasted. */
export function Composer({ send, active, unchosenAgent }: ComposerProps) {
  const [text, setText] = useState('');
  const [choice, setChoice] = useState<RunChoice>(noChoice);
  const [whileActive, setWhileActive] = useState<WhileActive>('tell');
  const [state, setState] = useState<{ isBusy: boolean; problem: string | null }>({ isBusy: false, problem: null });
  const attachments = useAttachments();
  const isAnswer = active?.status === 'waiting_input' && active.waiting?.reason === 'ask';
  const cannotSend = text.trim() === '' || attachments.isUploading || state.isBusy;

  const submit = (event?: SubmitEvent) => {
    event?.preventDefault();
    if (cannotSend) return;
    setState({ isBusy: true, problem: null });
    send({ text, files: attachments.ids, choice, whileActive }).then(
      () => {
        setText('');
        attachments.clear();
        setState({ isBusy: false, problem: null });
      },
      (error: unknown) => setState({ isBusy: false, problem: problemText(error) }),
    );
  };
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  const paste = ({ clipboardData }: ClipboardEvent) => attachments.add(clipboardData.files);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    attachments.add(event.dataTransfer.files);
  };
  return (
    <form className="composer" onSubmit={submit} onDrop={drop} onDragOver={(e) => e.preventDefault()}>
      <AttachmentList attachments={attachments} />
      <textarea
        aria-label={isAnswer ? 'Your answer' : 'Message'}
        placeholder={isAnswer ? 'Your answer' : 'Message'}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={sendByKey}
        onPaste={paste}
      />
      {state.problem !== null && (
        <p className="problem" role="alert">
          {state.problem}
        </p>
      )}
      <div className="composer-line">
        <AttachButton attachments={attachments} />
        {active && !isAnswer && <WhileActiveField value={whileActive} onChange={setWhileActive} />}
        {!active && <RunChoiceFields choice={choice} onChange={setChoice} unchosen={unchosenAgent} />}
        <button className="primary" disabled={cannotSend}>
          Send
        </button>
      </div>
    </form>
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
