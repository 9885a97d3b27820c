import type { Message } from '@rondo/client';

/** What a question said before a person changed it, and the run that answered that. */
export interface FormerQuestion {
  readonly text: string;
  readonly runId: string | null;
}

/** A conversation without what was withdrawn when a question was edited, and what those questions said before. */
export interface EditedTurns {
  readonly current: readonly Message[];
  /** By the id of the question that is asked now; oldest first. */
  readonly former: ReadonlyMap<string, readonly FormerQuestion[]>;
}

export function editedTurns(messages: readonly Message[]): EditedTurns {
  const former = new Map<string, readonly FormerQuestion[]>();
  const before = new Map<string, readonly FormerQuestion[]>(); // by the run that asks anew
  const current: Message[] = [];
  const asked = new Set<string>();
  for (const message of messages) {
    const { id, type, run_id: runId, metadata } = message;
    const isQuestion = type === 'user' && runId !== null && !asked.has(runId);
    if (isQuestion) asked.add(runId);
    const earlier = isQuestion ? (before.get(runId) ?? []) : [];
    const by = metadata['superseded_by'];
    if (typeof by !== 'string') {
      current.push(message);
      if (earlier.length > 0) former.set(id, earlier);
    } else if (type === 'user' && !before.has(by)) {
      before.set(by, [...earlier, { text: toText(message), runId }]);
    }
  }
  return { current, former };
}

/** The newest question of a person that is part of the conversation, unless the agent was told something after it. */
export function newestQuestion(messages: readonly Message[]): Message | undefined {
  const newest = messages.findLast(({ type, is_llm_message: isRead }) => type === 'user' && isRead);
  return newest && !isNoteToAgent(newest) ? newest : undefined;
}

const toText = ({ content }: Message): string =>
  content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('');

const notes: readonly string[] = ['file_problems', 'database_replaced'];

/**
 * What Rondo tells the model in the place of a person: that a fork lacks the files of its origin, that files did not arrive, or
 * that calls were lost with a database.
 */
export const isNoteToAgent = (message: Message | null): boolean =>
  message?.type === 'user' &&
  (message.metadata['kind'] === 'fork_note' || notes.some((name) => name in message.metadata));
