import type { Run } from '@rondo/client';
import type { FormerQuestion } from '@rondo/react';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import type { FedRun } from './run-feed.ts';
import { type TimelineLinks, noLinks } from './timeline-links.ts';

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
