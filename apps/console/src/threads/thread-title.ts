import type { Rondo, Thread } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { shortened } from '../runs/run-title.ts';
import { useRondo } from '../session/use-session.ts';

/** What a thread is called: as its metadata says, else the first words of it. Those are read until there are some. */
export function useThreadTitle(thread: Pick<Thread, 'id' | 'metadata'>): string | undefined {
  const rondo = useRondo();
  const given = thread.metadata['title'];
  const { data } = useQuery({
    queryKey: ['thread title', thread.id],
    queryFn: () => firstWords(rondo, thread.id),
    staleTime: ({ state }) => (state.data === null ? 0 : Infinity),
    enabled: typeof given !== 'string',
  });
  if (typeof given === 'string' && given !== '') return given;
  return data === null ? 'No messages yet' : data;
}

async function firstWords(rondo: Rondo, threadId: string): Promise<string | null> {
  const query = { type: 'user', llm_only: true, limit: 1 } as const; // not what was asked before an edit
  for await (const { content } of rondo.threads.messages(threadId, query)) {
    return shortened(content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(' '));
  }
  return null;
}
