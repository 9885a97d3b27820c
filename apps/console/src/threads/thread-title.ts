import type { Rondo, Thread } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { shorten } from '../runs/run-title.ts';
import { useRondo } from '../session/use-session.ts';

type NamedThread = Pick<Thread, 'metadata'> & Partial<Pick<Thread, 'title' | 'preview'>>;

/** Its title, else that of its metadata, else the first words of it. Undefined without any of them. */
export function nameThread({ title, metadata, preview }: NamedThread): string | undefined {
  const given = title ?? metadata['title'];
  if (typeof given === 'string' && given !== '') return given;
  return preview == null ? undefined : shorten(preview);
}

/** What a thread is called. The first words of one that does not say them itself are read until there are some. */
export function useThreadTitle(thread: Pick<Thread, 'id'> & NamedThread): string | undefined {
  const rondo = useRondo();
  const given = nameThread(thread);
  const { data } = useQuery({
    queryKey: ['thread title', thread.id],
    queryFn: () => firstWords(rondo, thread.id),
    staleTime: ({ state }) => (state.data === null ? 0 : Infinity),
    enabled: given === undefined,
  });
  return given ?? (data === null ? 'No messages yet' : data);
}

async function firstWords(rondo: Rondo, threadId: string): Promise<string | null> {
  const query = { type: 'user', llm_only: true, limit: 1 } as const; // not what was asked before an edit
  for await (const { content } of rondo.threads.messages(threadId, query)) {
    return shorten(content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(' '));
  }
  return null;
}
