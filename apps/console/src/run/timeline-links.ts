import type { Run } from '@rondo/client';
import type { FormerQuestion } from '@rondo/react';
import { createContext, useContext, useMemo } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useMay, useRondo } from '../session/use-session.ts';
import type { FedRun } from './run-feed.ts';

type ChildRun = NonNullable<Run['children']>[number];

/** What the items of a timeline lead to, beyond their rows. */
export interface TimelineLinks {
  /** The thread, whose workspace has the files that calls name. */
  readonly threadId?: string | undefined;
  /** The runs that calls of `run_agent` have started, by the id of the call. */
  readonly children: ReadonlyMap<string, ChildRun>;
  /** What edited questions said before, newest last, by the id of the message. */
  readonly former: ReadonlyMap<string, readonly FormerQuestion[]>;
  /** Begins a fork after this fact. Absent: the reader may not. */
  readonly fork?: (atSeq: number, iteration: number) => void;
  /** Reads an image that Rondo keeps. Absent: with the session. */
  readonly readImage?: (sha256: string, signal: AbortSignal) => Promise<Blob>;
  /** The question that can be asked anew, and what begins that. */
  readonly editable?: EditableQuestion | undefined;
}

interface EditableQuestion {
  readonly messageId: string;
  readonly edit: (text: string) => void;
  /** Asks the same once more. Absent where no run began with it. */
  readonly retry?: (() => void) | undefined;
}

export const noLinks: TimelineLinks = { children: new Map(), former: new Map() };

export const TimelineLinksContext = createContext<TimelineLinks>(noLinks);

export const useTimelineLinks = (): TimelineLinks => useContext(TimelineLinksContext);

interface LinkedRun extends Pick<FedRun, 'view' | 'details'> {
  readonly run: Run | undefined;
  readonly fork: (atSeq: number, iteration: number) => void;
}

/** What the timeline of a run leads to: its children, the places of forks, and what its question said before. */
export function useRunLinks({ run, view, details, fork }: LinkedRun): TimelineLinks {
  const mayWrite = useMay('write');
  const former = useFormerQuestion(run?.thread_id, details.editsMessageId);
  const question = view.rows.find((row) => row.kind === 'message' && row.role === 'user')?.id;
  const children = run?.children;
  return useMemo(
    () => ({
      threadId: run?.thread_id,
      children: new Map(children?.map((child) => [child.tool_call_id, child])),
      former: question === undefined || !former ? noLinks.former : new Map([[question, [former]]]),
      ...(mayWrite && { fork }),
    }),
    [run?.thread_id, children, former, question, mayWrite, fork],
  );
}

function useFormerQuestion(threadId: string | undefined, messageId: string | null) {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['former question', messageId],
    queryFn: async (): Promise<FormerQuestion | null> => {
      for await (const { id, content, run_id: runId } of rondo.threads.messages(threadId ?? '', { type: 'user' })) {
        if (id !== messageId) continue;
        return { text: content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(''), runId };
      }
      return null;
    },
    staleTime: Infinity,
    enabled: threadId !== undefined && messageId !== null,
  });
  return data;
}
