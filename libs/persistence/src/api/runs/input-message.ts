import { type NewId, type NewFact, type RunId, type ThreadId, type UserBlock, messageId } from '@rondo/contract';
import { firstWords } from '@rondo/domain';

export interface Input {
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly iteration: number;
  readonly content: readonly UserBlock[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a person said to a run, as a fact of the run. */
export const inputFact = ({ runId, threadId, iteration, content, metadata }: Input, newId: NewId): NewFact => ({
  type: 'message.created',
  iteration,
  data: {
    message: {
      id: messageId.parse(`msg_${newId()}`),
      thread_id: threadId,
      run_id: runId,
      iteration: null,
      type: 'user',
      is_llm_message: true,
      content: [...content],
      metadata: { ...metadata },
    },
  },
});

/** More of an input is not searched. */
const mostSearched = 8_000;
const previewLength = 100;

/** What a search looks through. Undefined for an input without text. */
export function inputText(input: readonly UserBlock[]): string | undefined {
  const texts = input.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.join('\n').slice(0, mostSearched).trim() || undefined;
}

/** One line for lists. */
export const toPreview = (text: string): string => firstWords(text, previewLength);
