import { type ChangeEvent, type DragEvent, type KeyboardEvent, useRef, useState } from 'react';
import { Button, describeProblem } from './button.tsx';
import { isQuestion } from './send-message.ts';
import { type Attachments, useAttachments } from './use-attachments.ts';
import type { UsedThread } from './use-thread.ts';

/** Where a message is written. Files can be chosen, dropped and pasted; Enter sends, and Shift+Enter begins a line. */
export function Composer({ thread }: { readonly thread: UsedThread }) {
  const { isActive, run, live, stop } = thread;
  const { text, setText, attachments, problem, cannotSend, submit } = useDraft(thread);
  const isAnswer = isActive && run !== undefined && isQuestion(live && live.view.lastSeq > 0 ? live.view : run);
  const label = isAnswer ? 'Your answer' : 'Message';
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
    <form
      className="rondo-composer"
      onSubmit={(event) => event.preventDefault()}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
    >
      <AttachedFiles attachments={attachments} />
      <textarea
        dir="auto"
        aria-label={label}
        placeholder={label}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={sendByKey}
        onPaste={({ clipboardData }) => attachments.add(clipboardData.files)}
      />
      {problem !== null && (
        <p className="rondo-problem" role="alert">
          {problem}
        </p>
      )}
      <div className="rondo-actions">
        <AttachButton add={attachments.add} />
        {isActive && <Button work={() => stop()}>Stop</Button>}
        <button type="button" className="rondo-primary" disabled={cannotSend} onClick={submit}>
          {isAnswer ? 'Answer' : 'Send'}
        </button>
      </div>
    </form>
  );
}

/** A message that is being written, and what sends it. It stays where it could not be sent. */
function useDraft({ rondo, send }: UsedThread) {
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const attachments = useAttachments(rondo);
  const cannotSend = text.trim() === '' || attachments.isUploading || isBusy;
  const submit = () => {
    if (cannotSend) return;
    setBusy(true);
    setProblem(null);
    send(text, { files: attachments.ids })
      .then(
        () => {
          setText('');
          attachments.clear();
        },
        (error: unknown) => setProblem(describeProblem(error)),
      )
      .finally(() => setBusy(false));
  };
  return { text, setText, attachments, problem, cannotSend, submit };
}

function AttachedFiles({ attachments }: { readonly attachments: Attachments }) {
  if (attachments.all.length === 0) return null;
  return (
    <ul className="rondo-files" aria-label="Files of this message">
      {attachments.all.map((one) => (
        <li key={one.key}>
          {one.name} {one.id === null && one.problem === null && '(is being uploaded)'}
          {one.problem !== null && <span className="rondo-problem">{describeProblem(one.problem)}</span>}
          <button type="button" aria-label={`Remove ${one.name}`} onClick={() => attachments.remove(one)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Opens the browser's own choice of files. */
function AttachButton({ add }: Pick<Attachments, 'add'>) {
  const field = useRef<HTMLInputElement>(null);
  const choose = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    add(currentTarget.files ?? []);
    currentTarget.value = '';
  };
  return (
    <>
      <input ref={field} type="file" multiple hidden aria-label="Files to attach" onChange={choose} />
      <button type="button" onClick={() => field.current?.click()}>
        Attach files
      </button>
    </>
  );
}
