import type { Rondo, Waiting } from '@rondo/client';
import { type ReactNode, useMemo } from 'react';
import { Button } from './button.tsx';
import { readFollowUps, toChatItems } from './chat-items.ts';
import { Composer } from './composer.tsx';
import { ItemList, type ItemParts } from './items.tsx';
import { isQuestion } from './send-message.ts';
import { type UseThreadOptions, type UsedThread, useThread } from './use-thread.ts';
import { Approvals, WaitingLine } from './waits.tsx';

export interface ConversationProps {
  readonly thread: UsedThread;
  readonly parts?: ItemParts | undefined;
  /** Shown while nothing has been said. */
  readonly children?: ReactNode;
}

export interface ChatProps extends UseThreadOptions, Omit<ConversationProps, 'thread'> {
  readonly rondo: Rondo;
}

/** A chat, whole: the conversation, what waits for the person, and the place to write. */
export function Chat({ rondo, parts, children, ...options }: ChatProps) {
  return (
    <Conversation thread={useThread(rondo, options)} parts={parts}>
      {children}
    </Conversation>
  );
}

/** The same of a thread that the page has from `useThread`. */
export function Conversation({ thread, parts, children }: ConversationProps) {
  const { rondo, turns, endings, isActive, isLoading, run, live, approvals, approve, error, queued } = thread;
  const items = useMemo(() => toChatItems(turns, endings), [turns, endings]);
  const waiting = live?.view.waiting ?? null;
  const last = items.at(-1);
  const prompts = !isActive && last?.kind === 'speech' ? readFollowUps(last.row) : [];
  return (
    <section className="rondo-chat" aria-busy={isLoading}>
      {items.length === 0 && !isLoading && children}
      {thread.hasOlder && (
        <p className="rondo-status">
          Older messages are not shown. <Button work={() => thread.loadOlder()}>Load more of them</Button>
        </p>
      )}
      <ItemList rondo={rondo} items={items} parts={parts} />
      <Approvals approvals={approvals} approve={approve} />
      <WaitingLine waiting={waiting && isDecidedHere(waiting) ? null : waiting} />
      {isActive && live?.view.waiting === null && (
        <p className="rondo-status" role="status">
          {live.view.status === 'stopping' ? 'Stopping …' : 'Working …'}
        </p>
      )}
      {queued.length > 0 && (
        <p className="rondo-status" role="status">
          {queued.length === 1 ? 'A message waits to be read.' : `${queued.length} messages wait to be read.`}
        </p>
      )}
      {error && (
        <p className="rondo-problem" role="alert">
          {error.message}
        </p>
      )}
      {prompts.length > 0 && (
        <div className="rondo-actions" role="group" aria-label="What to ask next">
          {prompts.map((text) => (
            <Button key={text} work={() => thread.send(text)}>
              {text}
            </Button>
          ))}
        </div>
      )}
      <Composer
        rondo={rondo}
        send={({ text, ...about }) => thread.send(text, about)}
        isAnswer={isActive && run !== undefined && isQuestion(live && live.view.lastSeq > 0 ? live.view : run)}
      >
        {({ hasFiles }) =>
          isActive && (
            <>
              {hasFiles && <span className="rondo-status">Files wait for the run after this one.</span>}
              <Button work={() => thread.stop()}>Stop</Button>
            </>
          )
        }
      </Composer>
    </section>
  );
}

/** A question is answered with the next message, and calls of the page's own tools by the page. */
const isDecidedHere = ({ reason }: Waiting): boolean =>
  reason === 'ask' || reason === 'approval' || reason === 'caller_tools';
