import type { Answer, LlmMessageList, Message, NewThread, Thread, ThreadChange } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

export interface ListMessages {
  readonly type?: Message['type'];
  readonly llm_only?: boolean;
  readonly limit?: number;
}

export interface ListThreads {
  readonly project_id?: string;
  /** With `metadata_value`: those that were created with this value under this key. */
  readonly metadata_key?: string;
  readonly metadata_value?: string;
  readonly limit?: number;
}

/** The conversations of an account. */
export class Threads {
  constructor(private readonly transport: Transport) {}

  create(thread: NewThread = {}, { signal }: Options = {}): Promise<Thread> {
    return this.transport.json({ method: 'POST', path: '/v1/threads', json: thread, signal });
  }

  get(id: string, { signal }: Options = {}): Promise<Thread> {
    return this.transport.json({ path: pathOf(id), signal });
  }

  /** Newest first. */
  list(query: ListThreads = {}): AsyncGenerator<Thread, void> {
    return itemsOf(this.transport, '/v1/threads', { ...query });
  }

  /** Shares it, or ends its sharing. */
  update(id: string, change: ThreadChange, { signal }: Options = {}): Promise<Thread> {
    return this.transport.json({ method: 'PATCH', path: pathOf(id), json: change, signal });
  }

  async delete(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(id), signal });
  }

  /** In the order of the conversation. */
  messages(id: string, query: ListMessages = {}): AsyncGenerator<Message, void> {
    return itemsOf(this.transport, `${pathOf(id)}/messages`, { ...query });
  }

  /** What the model of the thread's next run would receive, after its system prompt and before its input. */
  async llmMessages(id: string, { signal }: Options = {}): Promise<LlmMessageList['data']> {
    const list: LlmMessageList = await this.transport.json({ path: `${pathOf(id)}/llm-messages`, signal });
    return list.data;
  }

  /** The next run of the thread reads it; an active run reads it before its next iteration. */
  addMessage(id: string, content: Answer['content'], { signal }: Options = {}): Promise<Message> {
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/messages`, json: { content }, signal });
  }
}

const pathOf = (id: string): string => `/v1/threads/${encodeURIComponent(id)}`;
