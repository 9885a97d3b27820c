import { type ToolCallRow, describeEnding } from '@rondo/client';
import { type ChatItem, type EndedRun, type Turn, readFollowUps, toChatItems } from '@rondo/react';
import { type ReactNode, useEffect, useMemo } from 'react';
import { isPlain } from '../palette/shortcuts.tsx';
import { MessageItem } from '../run/message-item.tsx';
import { NoteItem } from '../run/note-item.tsx';
import { ToolCallItem } from '../run/tool-call-item.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { LogList } from '../ui/log-list.tsx';
import { Computer } from './panel/computer.tsx';
import { FollowUps, LinkCard, SpeechItem } from './speech-item.tsx';
import { type Step, toSteps } from './turns.ts';
import { type PanelTarget, useChatPanel } from './use-chat-panel.ts';
import { WorkItem } from './work-item.tsx';
import { Status } from '../ui/status.tsx';

interface ChatViewProps {
  /** What is stored: the turns before the run that is followed, and those after it. */
  readonly before: readonly Turn[];
  readonly after?: readonly Turn[];
  /** The run that is followed, as its log shows it. */
  readonly live?: Turn | undefined;
  readonly isActive?: boolean;
  /** The stored runs that did not complete. */
  readonly endings?: ReadonlyMap<string, EndedRun>;
  /** The way into the browser as it is now. */
  readonly browser?: ReactNode;
  /** Asks what the agent proposes. Absent: the reader may not. */
  readonly ask?: ((text: string) => Promise<unknown>) | undefined;
  /** What is above the conversation, and what is below it. */
  readonly top?: ReactNode;
  readonly children?: ReactNode;
}

const noTurns: readonly Turn[] = [];

/** A conversation, and beside it what the agent does at its computer. */
export function ChatView(props: ChatViewProps) {
  const { before, after = noTurns, live, isActive = false, endings, browser, ask, top, children } = props;
  const { target } = useChatPanel();
  const liveTurns = useMemo(() => (live ? [live] : noTurns), [live]);
  const itemsBefore = useMemo(() => toChatItems(before, endings), [before, endings]);
  const itemsAfter = useMemo(() => toChatItems(after, endings), [after, endings]);
  const items = useMemo(
    () => [...itemsBefore, ...toChatItems(liveTurns), ...itemsAfter],
    [itemsBefore, liveTurns, itemsAfter],
  );
  const stepsBefore = useMemo(() => toSteps(before), [before]);
  const steps = useMemo(
    () => [...stepsBefore, ...toSteps(liveTurns), ...toSteps(after)],
    [stepsBefore, liveTurns, after],
  );
  const shown = findShown(steps, target);
  useStepKeys(steps, shown);
  const newest = isActive ? items.findLast(({ kind }) => kind === 'work' || kind === 'message')?.key : undefined;
  const last = items.at(-1);
  const prompts = last?.kind === 'speech' ? readFollowUps(last.row) : [];
  return (
    <div className="chat-body">
      <div className="run-main chat">
        {top}
        <LogList items={items} label="Conversation" follows>
          {(item) => <Item item={item} shownCall={shown?.row.id} isNewest={item.key === newest} />}
        </LogList>
        {ask && !isActive && prompts.length > 0 && <FollowUps prompts={prompts} ask={ask} />}
        {children}
      </div>
      <Computer steps={steps} shown={shown} browser={browser} />
    </div>
  );
}

/** `j` and `k` go to the next step and to the one before. */
function useStepKeys(steps: readonly Step[], shown: Step | undefined): void {
  const { show } = useChatPanel();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const by = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
      const next = by === 0 || !isPlain(event) ? undefined : steps[steps.findIndex((one) => one === shown) + by];
      if (next) show({ call: next.row.id });
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [steps, shown, show]);
}

const findShown = (steps: readonly Step[], target: PanelTarget): Step | undefined =>
  (typeof target === 'object' && 'call' in target && steps.find(({ row }) => row.id === target.call)) || steps.at(-1);

interface ItemProps {
  readonly item: ChatItem;
  readonly shownCall: ToolCallRow['id'] | undefined;
  readonly isNewest: boolean;
}

function Item({ item, shownCall, isNewest }: ItemProps) {
  switch (item.kind) {
    case 'message':
      return (
        <>
          <MessageItem row={item.row} />
          {item.row.role === 'assistant' && !item.row.isOpen && <AnswerTools text={item.row.text} />}
        </>
      );
    case 'speech':
      return (
        <>
          <SpeechItem spoken={item.spoken} />
          <AnswerTools text={item.spoken.text} />
        </>
      );
    case 'link':
      return <LinkCard row={item.row} link={item.link} />;
    case 'work':
      return <WorkItem id={item.key} rows={item.rows} shownCall={shownCall} isNewest={isNewest} />;
    case 'call':
      return <ToolCallItem row={item.row} sentAt={item.row.startedAt ?? undefined} />;
    case 'note':
      return <NoteItem row={item.row} />;
    case 'ending':
      return <Ending run={item.run} />;
  }
}

/** How a run of the conversation ended that did not complete. */
function Ending({ run }: { readonly run: EndedRun }) {
  return (
    <p className="chat-ending">
      <Status status={run.status} finishReason={run.finish_reason} />
      <span>{describeEnding(run)?.sentence}</span>
    </p>
  );
}

const AnswerTools = ({ text }: { readonly text: string }) => (
  <div className="message-tools">
    <CopyButton text={text} what="this answer" />
  </div>
);
