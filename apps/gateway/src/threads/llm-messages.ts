import type { Message } from '@rondo/contract';
import { llmMessageList } from '@rondo/contract/api';
import { messagesForNextRun } from '@rondo/domain';

/** What the model of a thread's next run would receive of its messages. Images are references: their bytes are added later. */
export const toLlmMessages = (history: readonly Message[]) =>
  llmMessageList.parse({ data: messagesForNextRun(history) });
