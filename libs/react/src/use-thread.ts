import type { Approval, ApprovalDecision, HandledTools, Rondo, Run, StoppedRun, UploadedFile } from '@rondo/client';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { type NewMessage, type RunFields, isQuestion, sendMessage } from './send-message.ts';
import { ThreadWatch, type WatchedThread } from './thread-watch.ts';

export interface UseThreadOptions {
  /** Absent or null: the conversation begins with the first message. */
  readonly threadId?: string | null | undefined;
  /** What runs begin with, for example `agent_id` or `model`. */
  readonly run?: RunFields | undefined;
  /** Tools that this page runs, also of a run that waits for them when the page is loaded. Their names are those of the first render. */
  readonly tools?: HandledTools | undefined;
  /** Told the id of the thread that the first message began, for example to keep it in the address. */
  readonly onThread?: ((threadId: string) => void) | undefined;
}

/** A conversation, and what a person can do in it. The functions stay the same while the thread does. */
export interface UsedThread extends WatchedThread {
  readonly rondo: Rondo;
  /**
   * Says something: it begins a run, tells the active one unless `whileActive` says otherwise, or answers the question of one
   * that waits. Resolves with the id of the thread when the message is shown.
   */
  readonly send: (text: string, about?: Omit<NewMessage, 'text'>) => Promise<string>;
  /** Stops the active run, and resolves when everything of it has ended; undefined where none is active. */
  readonly stop: (reason?: string) => Promise<StoppedRun | undefined>;
  /** Answers the question of the run that waits. It gets the uploaded files with these ids. */
  readonly answer: (text: string, files?: readonly string[]) => Promise<void>;
  /** Decides about one of `approvals`. Without a decision it is approved, with exactly the arguments that it shows. */
  readonly approve: (approval: Approval, decision?: Omit<ApprovalDecision, 'arguments_hash'>) => Promise<void>;
  /** Uploads a file, whose id `send` and `answer` take. */
  readonly upload: (file: File) => Promise<UploadedFile>;
  /** Asks the newest question anew, in other words. */
  readonly edit: (text: string) => Promise<string>;
  /** Reads more of the older messages, where `hasOlder`. Resolves when they are shown. */
  readonly loadOlder: () => Promise<void>;
}

type ThreadActions = Omit<UsedThread, keyof WatchedThread | 'rondo'>;

/** A thread, live: its history, the run that goes on, and what a person can do. It also works before there is a thread. */
export function useThread(rondo: Rondo, options: UseThreadOptions = {}): UsedThread {
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const [start] = useState(() => (given: { rondo: Rondo; threadId: string | null }) => ({
    ...given,
    watch: new ThreadWatch(
      given.rondo,
      given.threadId,
      toLatest(options.tools, () => latest.current.tools),
    ),
  }));
  const threadId = options.threadId ?? null;
  const [begun, setBegun] = useState(() => start({ rondo, threadId }));
  let { watch } = begun;
  if (begun.rondo !== rondo || begun.threadId !== threadId) {
    // a page that is told of its own new thread goes on with it
    const isSame = begun.rondo === rondo && begun.threadId === null && watch.current().threadId === threadId;
    const next = isSame ? { ...begun, threadId } : start({ rondo, threadId });
    setBegun(next);
    ({ watch } = next);
  }
  const watched = useSyncExternalStore(watch.subscribe, watch.current, watch.current);
  const actions = useMemo(() => createActions(rondo, watch, () => latest.current), [rondo, watch]);
  return { ...watched, ...actions, rondo };
}

/** Handlers are functions of a render: the newest of them is called. */
function toLatest(tools: HandledTools | undefined, latest: () => HandledTools | undefined): HandledTools {
  const entries = Object.entries(tools ?? {}).map(
    ([name, tool]) =>
      [
        name,
        {
          ...tool,
          handler: (...given: Parameters<typeof tool.handler>) => (latest()?.[name] ?? tool).handler(...given),
        },
      ] as const,
  );
  return Object.fromEntries(entries);
}

function createActions(rondo: Rondo, watch: ThreadWatch, latest: () => UseThreadOptions): ThreadActions {
  const activeRun = (): Run | undefined => {
    const { run, live, isActive } = watch.current();
    return run && isActive ? { ...run, ...(live && live.view.lastSeq > 0 && pickStatus(live.view)) } : undefined;
  };
  const deliver = async (message: NewMessage, editedMessageId?: string): Promise<string> => {
    const { threadId } = watch.current();
    const { run, tools, onThread } = latest();
    const fields = { ...run, ...message.run };
    const withTools = tools ? { ...fields, tools: { ...fields.tools, ...tools } } : fields;
    const where = { threadId: threadId ?? undefined, active: activeRun(), editedMessageId };
    const sentTo = await sendMessage(rondo, where, { ...message, run: withTools });
    await watch.refresh(sentTo);
    if (threadId === null) onThread?.(sentTo);
    return sentTo;
  };
  const answer = async (text: string, files?: readonly string[]) => {
    const run = activeRun();
    if (!run || !isQuestion(run)) throw new Error('No run asks a question.');
    await rondo.runs.answer(run.id, text, files ? { files: [...files] } : {});
  };
  return {
    send: (text, about) => deliver({ ...about, text }),
    stop: async (reason) => {
      const run = activeRun();
      return run && rondo.runs.stop(run.id, reason === undefined ? {} : { reason });
    },
    answer,
    approve: async ({ id, arguments_hash }, decision = { decision: 'approve' }) => {
      await rondo.approvals.decide(id, { ...decision, arguments_hash });
    },
    upload: (file) => rondo.files.upload(file),
    loadOlder: () => watch.loadOlder(),
    edit: (text) => {
      const { question } = watch.current();
      if (!question) throw new Error('There is no question to edit.');
      return deliver({ text }, question.id);
    },
  };
}

const pickStatus = ({ status, waiting }: Pick<Run, 'status' | 'waiting'>) => ({ status, waiting });
