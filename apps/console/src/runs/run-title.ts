import type { Fact, Rondo, Run } from '@rondo/client';
import { beginning } from '@rondo/react';
import { useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';

const longest = 140;

/** The first words of what a run was asked. A run of an older version has no preview: those words are read once, from its log. */
export function useRunTitle(run: Pick<Run, 'id' | 'metadata'> & Partial<Pick<Run, 'preview'>>): string | undefined {
  const rondo = useRondo();
  const given = run.metadata['title'] ?? (run.preview == null ? undefined : shorten(run.preview));
  const { data } = useQuery({
    queryKey: ['title', run.id],
    queryFn: () => firstWords(rondo, run.id),
    staleTime: Infinity,
    enabled: given === undefined,
  });
  return given ?? data;
}

async function firstWords(rondo: Rondo, runId: string): Promise<string> {
  let read = 0;
  for await (const fact of rondo.runs.facts(runId)) {
    const words = findWords(fact);
    if (words !== undefined) return words;
    if (++read === 3) break; // the input is among the first facts, if there is one
  }
  return 'Continues its thread';
}

function findWords(fact: Fact): string | undefined {
  if (fact.type !== 'message.created' || fact.data.message.type !== 'user') return undefined;
  return shorten(fact.data.message.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(' '));
}

/** The agent of a run; of a run without one its profile, which is said to be one. */
export const nameAgent = ({ settings, profile }: Pick<Run, 'settings' | 'profile'>): string =>
  settings.agent.name ?? `profile ${profile}`;

/** One line, up to the first block of code or the list of files. */
export function shorten(text: string): string {
  const [prose = ''] = text.split(/```|\[Uploaded File: |Attached files:/);
  const line = prose.replaceAll(/\s+/g, ' ').trim();
  return line.length > longest ? `${beginning(line, longest).trimEnd()}…` : line || 'An input without text';
}
