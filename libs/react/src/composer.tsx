import type { Rondo } from '@rondo/client';
import {
  type ChangeEvent,
  type ComponentType,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { describeProblem } from './button.tsx';
import { bytes } from './describe-note.ts';
import type { NewMessage } from './send-message.ts';
import { type Attachment, type Attachments, useAttachments } from './use-attachments.ts';

/** What is written and not sent. */
export interface Draft {
  readonly text: string;
  readonly files: readonly Attachment[];
}

export interface ComposerProps {
  readonly rondo: Rondo;
  readonly send: (message: Pick<NewMessage, 'text' | 'files'>) => Promise<unknown>;
  /** Whether the message answers a question. */
  readonly isAnswer: boolean;
  /** What is changed instead of written anew. */
  readonly text?: string | undefined;
  /** What was written in another composer, in whose place this one is: it is gone on with. */
  readonly draft?: Draft | undefined;
  /** Above the field. */
  readonly head?: ReactNode;
  /** What the empty field says. Its name otherwise. */
  readonly placeholder?: string | undefined;
  /** Ways to begin, below the field. The chosen one is put into it, to be changed there, and attached files stay. */
  readonly starters?: readonly string[] | undefined;
  /** Between the buttons; a function is told whether files are attached. */
  readonly children?: ReactNode | ((draft: { readonly hasFiles: boolean }) => ReactNode);
  /** Told whether something is written or attached that is not sent, and what. While a message is sent, that is the next one. */
  readonly onDraft?: (isWritten: boolean, draft: Draft) => void;
  /** Says why something failed. */
  readonly Problem?: ComponentType<{ readonly error: unknown }>;
}

/** Enter ends what an input method has composed. In Safari the composition is over by then, and only the code of the key says so. */
// eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else says it
const isOfInputMethod = ({ nativeEvent, keyCode }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || keyCode === 229;

/** Where a message is written. Files can be chosen, dropped and pasted; Enter sends, and Shift+Enter begins a line. */
export function Composer(props: ComposerProps) {
  const { isAnswer, head, placeholder, starters = [], children, Problem = PlainProblem, ...draft } = props;
  const { text, setText, attachments, problem, isBusy, cannotSend, submit } = useDraft(draft);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const { current } = field;
    if (current === document.activeElement) current?.setSelectionRange(current.value.length, current.value.length); // one writes on
  }, []);
  const label = isAnswer ? 'Your answer' : 'Message';
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || isOfInputMethod(event)) return;
    event.preventDefault();
    submit();
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    attachments.add(event.dataTransfer.files);
  };
  const begin = (starter: string) => {
    setText(starter);
    field.current?.focus();
  };
  return (
    <form
      className="rondo-composer"
      onSubmit={(event) => event.preventDefault()}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
    >
      {head}
      <AttachedFiles attachments={attachments} Problem={Problem} />
      <textarea
        ref={field}
        dir="auto"
        aria-label={label}
        placeholder={placeholder ?? label}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        autoFocus={draft.text !== undefined || isWritten(draft.draft)}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={sendByKey}
        onPaste={({ clipboardData }) => attachments.add(clipboardData.files)}
      />
      {problem !== null && <Problem error={problem} />}
      <div className="rondo-actions">
        <AttachButton add={attachments.add} />
        {typeof children === 'function' ? children({ hasFiles: attachments.all.length > 0 }) : children}
        <button type="button" className="rondo-primary" disabled={cannotSend} onClick={submit}>
          {isBusy ? 'Sending …' : isAnswer ? 'Answer' : 'Send'}
        </button>
      </div>
      {starters.length > 0 && <Starters all={starters} begin={begin} />}
    </form>
  );
}

interface StartersProps {
  readonly all: readonly string[];
  readonly begin: (text: string) => void;
}

const Starters = ({ all, begin }: StartersProps) => (
  <div className="rondo-starters" role="group" aria-label="Ways to begin">
    {all.map((text) => (
      <button key={text} type="button" onClick={() => begin(text)}>
        {text}
      </button>
    ))}
  </div>
);

type DraftProps = Pick<ComposerProps, 'rondo' | 'send' | 'text' | 'draft' | 'onDraft'>;

const isWritten = (draft: Draft | undefined): boolean =>
  draft !== undefined && (draft.text.trim() !== '' || draft.files.length > 0);

/**
 * A message that is being written, and what sends it. The next one can be written meanwhile, and what could not be sent is
 * there again, before it.
 */
function useDraft({ rondo, send, text: begun = '', draft, onDraft }: DraftProps) {
  const [text, setText] = useState(draft?.text ?? begun);
  const [sent, setSent] = useState<readonly Attachment[] | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const attachments = useAttachments(rondo, draft?.files);
  const isBusy = sent !== null;
  const cannotSend = text.trim() === '' || attachments.isUploading || isBusy;
  const submit = () => {
    if (cannotSend) return;
    const { all, ids, forget } = attachments;
    setSent(all);
    setProblem(null);
    setText('');
    send({ text, files: ids })
      .then(
        () => forget(all),
        (error: unknown) => {
          setProblem(error);
          setText((next) => (next === '' ? text : `${text}\n${next}`));
        },
      )
      .finally(() => setSent(null));
  };
  const next = useMemo(
    () => ({
      text,
      files: attachments.all.filter(({ id, key }) => id !== null && !sent?.some((one) => one.key === key)),
    }),
    [text, attachments.all, sent],
  );
  const isUnsent = !isBusy && (text.trim() !== begun.trim() || attachments.all.length > 0);
  useEffect(() => onDraft?.(isUnsent, next), [onDraft, isUnsent, next]);
  return { text, setText, attachments, problem, isBusy, cannotSend, submit };
}

const PlainProblem = ({ error }: { readonly error: unknown }) => (
  <p className="rondo-problem" role="alert">
    {describeProblem(error)}
  </p>
);

type AttachedFilesProps = Required<Pick<ComposerProps, 'Problem'>> & { readonly attachments: Attachments };

function AttachedFiles({ attachments, Problem }: AttachedFilesProps) {
  if (attachments.all.length === 0) return null;
  return (
    <ul className="rondo-files" aria-label="Files of this message">
      {attachments.all.map((one) => (
        <li key={one.key}>
          <span className="rondo-file-name">{one.name}</span>
          <span className="rondo-file-size">
            {one.id === null && one.problem === null ? '(is being uploaded)' : bytes(one.size)}
          </span>
          {one.problem !== null && <Problem error={one.problem} />}
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
