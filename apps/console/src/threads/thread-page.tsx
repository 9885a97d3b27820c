import { type Run, type Thread, isOver } from '@rondo/client';
import { type NewMessage, type ThreadView, sendMessage } from '@rondo/react';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { ChatView } from '../chat/chat-view.tsx';
import { ShareThread } from '../chat/share-thread.tsx';
import { useNotifications } from '../chat/use-notifications.ts';
import { ChatPanelContext, useChatPanel, useNewChatPanel } from '../chat/use-chat-panel.ts';
import { RetryDialog } from '../run/retry-dialog.tsx';
import { type TimelineLinks, TimelineLinksContext, noLinks } from '../run/timeline-links.ts';
import { useMay, useRondo } from '../session/use-session.ts';
import { useThreadTerminal } from '../terminal/terminal-session.ts';
import { count } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { hasNothing } from '../ui/problem-text.ts';
import { FailurePage, Loading } from '../ui/states.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { Composer } from './composer.tsx';
import { LiveConversation } from './conversation.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { type RunChoice, noChoice } from '../ui/run-choice.tsx';
import { useThreadTitle } from './thread-title.ts';
import { type Unsent, carryUnsent, joinDrafts, useUnsent } from './unsent.ts';
import { useThread } from './use-thread.ts';

const route = getRouteApi('/threads/$threadId');

/** A conversation: what was said, what the active run writes, and the place to go on. */
export function ThreadPage() {
  const { threadId } = route.useParams();
  return <OneThread key={threadId} threadId={threadId} />;
}

function OneThread({ threadId }: { readonly threadId: string }) {
  const rondo = useRondo();
  const thread = useQuery({
    queryKey: ['thread', threadId],
    queryFn: ({ signal }) => rondo.threads.get(threadId, { signal }),
  });
  const { shown, older, error, refresh } = useThread(threadId);
  const failure = hasNothing(thread.error, thread.data) ? thread.error : shown ? null : error;
  if (failure) return <FailurePage error={failure} list={{ to: '/threads', name: 'All threads' }} />;
  if (!thread.data || !shown) return <Loading what="the thread" />;
  return (
    <Conversation thread={thread.data} shown={shown} refresh={refresh}>
      {older && <OlderMessages {...older} />}
    </Conversation>
  );
}

interface ConversationProps {
  readonly thread: Thread;
  readonly shown: ThreadView;
  readonly refresh: () => Promise<void>;
  /** Above what was said. */
  readonly children: ReactNode;
}

function Conversation({ thread, shown, refresh, children }: ConversationProps) {
  const { run, before, endings } = shown;
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const panel = useNewChatPanel(thread.id, useThreadTerminal(thread.id));
  const unsent = useUnsent(thread.id);
  const [edited, setEdited] = useState<Edited | null>(null);
  const [retried, setRetried] = useState<string | null>(null);
  const active = run && !isOver(run) ? run : undefined;
  const send = async (message: NewMessage) => {
    await sendMessage(rondo, { threadId: thread.id, active, editedMessageId: edited?.id }, message);
    if (edited) unsent.current = joinDrafts(unsent.current, edited.unsent.current);
    setEdited(null);
    await refresh();
  };
  const edit = useCallback((question: Question) => setEdited({ ...question, unsent: { current: undefined } }), []);
  const links = useQuestionLinks(thread.id, shown, { edit, retry: setRetried });
  const ask = mayWrite && !edited ? (text: string) => send({ text }) : undefined;
  const foot = mayWrite && (
    <Composer
      key={edited?.id ?? 'new'}
      send={send}
      unsent={edited?.unsent ?? unsent}
      active={active}
      unchosenAgent="Same agent"
      edited={edited ? { ...edited, runId: run?.id, choice: toChoice(run), cancel: () => setEdited(null) } : undefined}
    />
  );
  return (
    <TimelineLinksContext value={links}>
      <ChatPanelContext value={panel}>
        <div className="run-page">
          <ThreadHead thread={thread} isBusy={active !== undefined} />
          {run ? (
            <LiveConversation {...shown} run={run} onEnd={refresh} ask={ask} top={children}>
              {foot}
            </LiveConversation>
          ) : (
            <ChatView before={before} endings={endings} top={children}>
              {foot}
            </ChatView>
          )}
          {retried !== null && (
            <RetryDialog
              runId={retried}
              isActive={active?.id === retried}
              onClose={() => setRetried(null)}
              onBegun={refresh}
            />
          )}
        </div>
      </ChatPanelContext>
    </TimelineLinksContext>
  );
}

interface Question {
  readonly id: string;
  readonly text: string;
}

interface Edited extends Question {
  /** In its composer. Once it is sent, that is the next message. */
  readonly unsent: Unsent;
}

interface OlderMessagesProps {
  readonly shown: number;
  readonly isComing: boolean;
  readonly load: () => void;
}

/** That a long thread is not shown whole, and the way to the rest of it. */
function OlderMessages({ shown, isComing, load }: OlderMessagesProps) {
  return (
    <p className="chat-older" role="status">
      The newest {count(shown)} messages of this thread are shown, and older ones are not.
      <button disabled={isComing} onClick={load}>
        {isComing ? 'Loading …' : 'Load older ones'}
      </button>
    </p>
  );
}

interface QuestionWork {
  readonly edit: (question: Question) => void;
  /** Of the run that it began. */
  readonly retry: (runId: string) => void;
}

/** What edited questions said, and what can be done with the newest one. Each of the works stays the same function. */
function useQuestionLinks(threadId: string, { former, question }: ThreadView, { edit, retry }: QuestionWork) {
  const mayWrite = useMay('write');
  return useMemo((): TimelineLinks => {
    const links = { ...noLinks, threadId, former };
    if (!mayWrite || !question) return links;
    const { id: messageId, run_id: runId } = question;
    const editable = {
      messageId,
      edit: (text: string) => edit({ id: messageId, text }),
      retry: runId === null ? undefined : () => retry(runId),
    };
    return { ...links, editable };
  }, [threadId, former, question, mayWrite, edit, retry]);
}

/** The same again, where a question is asked anew. */
const toChoice = (run: Run | undefined): RunChoice =>
  run?.agent_id == null ? { ...noChoice, model: run?.model ?? '' } : { ...noChoice, agentId: run.agent_id };

function ThreadHead({ thread, isBusy }: { readonly thread: Thread; readonly isBusy: boolean }) {
  const title = useThreadTitle(thread);
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const mayWrite = useMay('write');
  const [isRenaming, setRenaming] = useState(false);
  const remove = async () => {
    await rondo.threads.delete(thread.id);
    await navigate({ to: '/threads' });
    await refreshKey(['threads']);
  };
  return (
    <ItemHead
      list={{ to: '/threads', name: 'Threads' }}
      isWide
      crumb={<code>{thread.id}</code>}
      title={title ?? thread.id}
    >
      <ComputerSwitch />
      <NotifySwitch threadId={thread.id} title={title ?? 'Rondo'} />
      {mayWrite && <button onClick={() => setRenaming(true)}>Rename</button>}
      {mayWrite && <ShareThread thread={thread} />}
      <Link to="/runs" search={{ thread: thread.id }} className="button">
        Runs
      </Link>
      {mayWrite && !isBusy && (
        <ConfirmedAction
          name="Delete"
          label="Delete this thread"
          question="Delete this thread, with its runs, messages and files?"
          work={remove}
        />
      )}
      {isRenaming && <RenameDialog thread={thread} onClose={() => setRenaming(false)} />}
    </ItemHead>
  );
}

function NotifySwitch({ threadId, title }: { readonly threadId: string; readonly title: string }) {
  const { isOn, toggle } = useNotifications(threadId, title);
  if (!toggle) return null;
  return (
    <button aria-pressed={isOn} onClick={toggle} title="Tells you when a run of this thread waits for you or has ended">
      Notify me
    </button>
  );
}

function ComputerSwitch() {
  const { isOpen, setOpen } = useChatPanel();
  return (
    <button aria-pressed={isOpen} onClick={() => setOpen(!isOpen)}>
      Computer
    </button>
  );
}

/** What a thread may begin with. */
const starters = [
  'Build a one-page site about a garden.',
  'Write a small program and run it.',
  'Compare three things in a table.',
];

/** A thread that begins with the first message. */
export function NewThreadPage() {
  const rondo = useRondo();
  const navigate = useNavigate();
  const [unsent] = useState<Unsent>({ current: undefined });
  const send = async (message: NewMessage) => {
    const threadId = await sendMessage(rondo, {}, message);
    carryUnsent(threadId, unsent);
    await navigate({ to: '/threads/$threadId', params: { threadId } });
  };
  return (
    <div className="run-page">
      <ItemHead list={{ to: '/threads', name: 'Threads' }} isWide crumb="new" title="New thread" />
      <div className="run-main chat">
        <p className="chat-start">What should the agent do?</p>
        <Composer
          send={send}
          unsent={unsent}
          unchosenAgent="Default agent"
          placeholder="Ask for anything"
          starters={starters}
        />
      </div>
    </div>
  );
}
