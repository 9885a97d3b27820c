import {
  type AccountId,
  type InputBlock,
  type Message,
  type RunId,
  type ThreadId,
  isTerminal,
  readUser,
} from '@rondo/contract';
import type { Messages, Runs, ThreadAddress, Threads } from '@rondo/persistence';
import { type AccountQuotas, measureContent } from '../../billing/account-quotas';
import { ApiError, refuseField } from '../../problems/api-error';
import { ShownSize } from '../shown-size';
import type { KnownResponses } from './known-responses';
import { findSegmentStarts, readConversationId } from './openai-ids';
import {
  type ItemQuery,
  toConversation,
  toInputItems,
  toItemList,
  toResponseOptions,
  toUserItem,
  withApproved,
} from './openai.objects';
import { readItem, toInput } from './openai.requests';
import { type Item } from './openai.items';
import { ResponseTranslator } from './openai.translate';

interface ConversationAddress {
  readonly accountId: AccountId;
  readonly conversationId: string;
}

interface NewItems {
  readonly items?: readonly Readonly<Record<string, unknown>>[] | null | undefined;
}

interface OpenAiConversationsDependencies {
  readonly threads: Pick<Threads, 'create' | 'get' | 'delete'>;
  readonly messages: Pick<Messages, 'addAll' | 'list'>;
  readonly runs: Pick<Runs, 'get'>;
  readonly known: Pick<KnownResponses, 'readLog' | 'findNewest'>;
  readonly quotas: Pick<AccountQuotas, 'within'>;
}

/** Threads, as clients of OpenAI's API see them. */
export class OpenAiConversations {
  constructor(private readonly dependencies: OpenAiConversationsDependencies) {}

  async create(
    accountId: AccountId,
    { metadata, items }: NewItems & { readonly metadata?: Readonly<Record<string, string>> | null | undefined },
  ): Promise<object> {
    const contents = readItems(items ?? []);
    const given = metadata ?? {};
    const user = readUser({ metadata: given });
    const thread = await this.dependencies.quotas.within(accountId, { threads: 1, message_bytes: 0 }, (bounds) =>
      this.dependencies.threads.create({ accountId, metadata: given, user, bounds }),
    );
    const address = { accountId, threadId: thread.id };
    await this.addMessages(address, contents).catch(async (error: unknown) => {
      await this.dependencies.threads.delete(address);
      throw error;
    });
    return toConversation(thread);
  }

  async get(address: ConversationAddress): Promise<object> {
    return toConversation(await this.dependencies.threads.get(toThread(address)));
  }

  async delete(address: ConversationAddress): Promise<object> {
    await this.dependencies.threads.delete(toThread(address));
    return { id: address.conversationId, object: 'conversation.deleted', deleted: true };
  }

  async list(address: ConversationAddress, query: ItemQuery): Promise<object> {
    return toItemList(await this.readItems(toThread(address)), query);
  }

  async find(address: ConversationAddress, itemId: string): Promise<Item> {
    const found = (await this.readItems(toThread(address))).find(({ id }) => id === itemId);
    if (!found) throw new ApiError('thread_not_found', `There is no item ${itemId}.`);
    return found;
  }

  /** Adds messages of the user, which the next run reads. Rejects with `thread_busy` while one is at work. */
  async add(address: ConversationAddress, { items }: NewItems): Promise<object> {
    const { accountId, threadId } = toThread(address);
    const contents = readItems(items ?? []);
    await this.dependencies.threads.get({ accountId, threadId });
    const newest = await this.dependencies.known.findNewest(accountId, threadId);
    if (newest && !isTerminal(newest.status))
      throw new ApiError('thread_busy', `${newest.id} is active on ${address.conversationId}.`);
    const messages = await this.addMessages({ accountId, threadId }, contents);
    const added = messages.map((message) => toUserItem(message, message.id));
    return toItemList(added, { limit: added.length, order: 'asc' });
  }

  private async addMessages(thread: ThreadAddress, contents: readonly InputBlock[][]): Promise<Message[]> {
    if (contents.length === 0) return [];
    return this.dependencies.quotas.within(thread.accountId, measureContent(contents.flat()), (bounds) =>
      this.dependencies.messages.addAll({ ...thread, contents, bounds }),
    );
  }

  /** Oldest first: messages that were added, and what the runs were asked and did. */
  private async readItems({ accountId, threadId }: { accountId: AccountId; threadId: ThreadId }): Promise<Item[]> {
    const items: Item[] = [];
    const size = new ShownSize(`Read it with GET /v1/threads/${threadId}/messages.`);
    const seen = new Set<RunId>();
    let after: string | undefined;
    do {
      const page = await this.dependencies.messages.list({ accountId, threadId, type: 'user', limit: 200, after });
      for (const message of page.data) {
        const { run_id: runId } = message;
        size.add(message);
        if (runId === null) items.push(toUserItem(message, message.id));
        if (runId === null || seen.has(runId)) continue;
        seen.add(runId);
        const ofRun = await this.readRun(accountId, runId);
        size.add(ofRun);
        items.push(...ofRun);
      }
      after = page.next_cursor ?? undefined;
    } while (after !== undefined);
    return items;
  }

  private async readRun(accountId: AccountId, runId: RunId): Promise<Item[]> {
    const run = await this.dependencies.runs.get({ accountId, runId });
    const facts = await this.dependencies.known.readLog({ accountId, runId });
    return findSegmentStarts(facts).flatMap((start, index, starts) => {
      const own = facts.filter(({ seq }) => seq > start && seq <= (starts[index + 1] ?? run.last_seq));
      const translator = new ResponseTranslator(
        withApproved(toResponseOptions(run, { runId, after: start }, undefined), facts),
      );
      for (const fact of own) translator.translate(fact);
      return [...toInputItems(own, { runId, after: start }), ...translator.response.output];
    });
  }
}

const toThread = ({ accountId, conversationId }: ConversationAddress) => ({
  accountId,
  threadId: readConversationId(conversationId),
});

/** The contents of messages of the user. Throws InvalidRequest that names another item. */
function readItems(items: readonly Readonly<Record<string, unknown>>[]) {
  return items.map((item, index) => {
    const read = readItem(item, `items.${index}`);
    if (read.history.length > 0 || read.instructions !== undefined || read.content.length === 0)
      throw refuseField(read.field, 'only messages of the user are served');
    return toInput(read);
  });
}
