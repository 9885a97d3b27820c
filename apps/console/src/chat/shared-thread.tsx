import { type Message, type PublicMessagePage, type PublicRun, Rondo, describeEnding, isOver } from '@rondo/client';
import { toTurns } from '@rondo/react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { gatewayUrl } from '../gateway-url.ts';
import { type TimelineLinks, TimelineLinksContext, noLinks } from '../run/timeline-links.ts';
import { shorten } from '../runs/run-title.ts';
import { SessionContext } from '../session/use-session.ts';
import { Mark } from '../ui/mark.tsx';
import { hasNothing, isMissing } from '../ui/problem-text.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { ChatView } from './chat-view.tsx';
import { ChatPanelContext, useNewChatPanel } from './use-chat-panel.ts';

const refreshMs = 5_000;
const pageSize = 200;

/** Who reads a shared thread has no session: only what is public is asked for. */
const visitor = {
  rondo: new Rondo({ baseUrl: gatewayUrl() }),
  who: { account_id: '', caller_id: '', scopes: [], session_id: null, expires_at: null },
  signOut: () => Promise.resolve(),
};

/** A thread that was shared, for everyone: the same view, without anything that could change something. */
export default function SharedThread({ threadId }: { readonly threadId: string }) {
  const panel = useNewChatPanel(undefined);
  const links = useMemo((): TimelineLinks => {
    const readImage = async (sha256: string, signal: AbortSignal) => {
      const response = await fetch(`${gatewayUrl()}/v1/public/threads/${threadId}/images/${sha256}`, { signal });
      if (!response.ok) throw new Error('The picture is not shared.');
      return response.blob();
    };
    return { ...noLinks, readImage };
  }, [threadId]);
  return (
    <SessionContext value={visitor}>
      <TimelineLinksContext value={links}>
        <ChatPanelContext value={panel}>
          <main className="shared-page">
            <Shared threadId={threadId} />
          </main>
        </ChatPanelContext>
      </TimelineLinksContext>
    </SessionContext>
  );
}

function Shared({ threadId }: { readonly threadId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['shared', threadId],
    queryFn: ({ signal }) => readShared(threadId, signal),
    refetchInterval: ({ state }) => (state.data?.run && !isOver(state.data.run) ? refreshMs : false),
    retry: false,
  });
  const turns = useMemo(() => toTurns(data?.messages ?? []), [data?.messages]);
  const title = readTitle(data?.messages ?? []) || 'Shared conversation';
  useEffect(() => {
    document.title = `${title} · Rondo`;
  }, [title]);
  if (hasNothing(error, data)) return <NotShared error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the conversation" />;
  return (
    <div className="run-page">
      <header className="run-head">
        <p className="crumb">
          <Mark /> Shared conversation, read only
        </p>
        <h1 dir="auto">{title}</h1>
      </header>
      <ChatView before={turns} isActive={data.run !== undefined && !isOver(data.run)}>
        {data.run && (
          <div className="chat-run">
            <Status status={data.run.status} finishReason={data.run.finish_reason} />
            <p role="status">{describeEnding(data.run)?.sentence}</p>
          </div>
        )}
      </ChatView>
    </div>
  );
}

interface SharedConversation {
  readonly messages: readonly Message[];
  /** The newest run. */
  readonly run: PublicRun | undefined;
}

async function readShared(threadId: string, signal: AbortSignal): Promise<SharedConversation> {
  const messages: Message[] = [];
  const path = `/v1/public/threads/${threadId}/messages`;
  for (let after: string | null | undefined; after !== null;) {
    const query = { limit: pageSize, ...(after !== undefined && { after }) };
    const page: PublicMessagePage = await visitor.rondo.request({ path, query, signal });
    for (const message of page.data)
      messages.push({ ...message, thread_id: threadId, iteration: null, is_llm_message: true, metadata: {} });
    after = page.next_cursor;
  }
  const runId = messages.findLast(({ run_id: id }) => id !== null)?.run_id;
  if (runId == null) return { messages, run: undefined };
  return { messages, run: await visitor.rondo.request<PublicRun>({ path: `/v1/public/runs/${runId}`, signal }) };
}

function readTitle(messages: readonly Message[]): string {
  const question = messages.find(({ type }) => type === 'user');
  return question
    ? shorten(question.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(' '))
    : '';
}

function NotShared({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  if (!isMissing(error)) return <Failure error={error} retry={retry} />;
  return (
    <div className="state">
      <h1>This conversation is not shared</h1>
      <p>It never was, or its sharing has ended.</p>
    </div>
  );
}
