import { createHash } from 'node:crypto';
import {
  type AccountId,
  type RecordedFact,
  type Run,
  type RunId,
  type ThreadId,
  endUser,
  isTerminal,
  isWaiting,
} from '@rondo/contract';
import type { OpenAiChatRequest, OpenAiResponseRequest } from '@rondo/contract/api';
import type { FacadeIds, RunAddress, Runs, Threads } from '@rondo/persistence';
import { ApiError, refuseField } from '../../problems/api-error';
import { readLogPages } from '../log-pages';
import { findSegmentStarts, readConversationId, readResponseId, toResponseId } from './openai-ids';
import { toText } from './openai.items';
import { toResponseOptions, withApproved } from './openai.objects';
import type { ReadRequest, Said } from './openai.requests';
import { type ResponseOptions, ResponseTranslator } from './openai.translate';

export const facade = 'openai';
const pageSize = 200;

/** A response that exists, with the facts of its run. */
export interface FoundResponse {
  readonly run: Run;
  readonly facts: readonly RecordedFact[];
  readonly options: ResponseOptions;
  /** Nothing was asked after it on its run. */
  readonly isLatest: boolean;
  /** The seq of its last fact. */
  readonly end: number;
}

/** Where a request goes on. */
export interface Place {
  readonly threadId: ThreadId | undefined;
  readonly newest: Run | undefined;
}

interface KnownResponsesDependencies {
  readonly ids: Pick<FacadeIds, 'findRun'>;
  readonly runs: Pick<Runs, 'get' | 'current' | 'events' | 'listAwaitedCalls'>;
  readonly threads: Pick<Threads, 'get'>;
}

/** Finds responses, and the threads on which requests go on, by what clients of OpenAI's API have of them. */
export class KnownResponses {
  constructor(private readonly dependencies: KnownResponsesDependencies) {}

  /** Rejects with `run_not_found` for what is no response of the account. */
  async find(accountId: AccountId, responseId: string): Promise<FoundResponse> {
    const segment = readResponseId(responseId);
    const run = await this.dependencies.runs.get({ accountId, runId: segment.runId });
    const facts = await this.readLog({ accountId, runId: run.id });
    const starts = findSegmentStarts(facts);
    if (!starts.includes(segment.after)) throw new ApiError('run_not_found', `There is no response ${responseId}.`);
    const index = starts.indexOf(segment.after);
    const [earlier, next] = [starts[index - 1], starts[index + 1]];
    const previous = earlier === undefined ? undefined : { runId: run.id, after: earlier };
    const options = withApproved(toResponseOptions(run, segment, previous), facts);
    return { run, facts, options, isLatest: next === undefined, end: next ?? run.last_seq };
  }

  /** The run that others of the thread wait for; where there is none, the newest one. */
  findNewest(accountId: AccountId, threadId: ThreadId): Promise<Run | undefined> {
    return this.dependencies.runs.current({ accountId, threadId });
  }

  /** Rejects with `log_trimmed` where facts were deleted. */
  async readLog(address: RunAddress): Promise<RecordedFact[]> {
    const facts: RecordedFact[] = [];
    for await (const page of readLogPages(this.dependencies.runs, address)) {
      if (page.gap)
        throw new ApiError('log_trimmed', 'Events of this run have been deleted, so it cannot be shown here.');
      facts.push(...page.data);
    }
    return facts;
  }

  /** Where a request goes on, and the response before it. */
  async findPlace(
    accountId: AccountId,
    { previous_response_id: previous, conversation }: OpenAiResponseRequest,
    { knownRun, outputs }: ReadRequest,
  ): Promise<{ place: Place; previous?: string }> {
    if (previous && conversation)
      throw refuseField('conversation', 'give previous_response_id or conversation, not both');
    if (previous) {
      const { run, isLatest } = await this.find(accountId, previous);
      if (!isLatest) throw notLatest(previous);
      return { place: await this.requireNewest(accountId, run), previous };
    }
    if (conversation) {
      const threadId = readConversationId(typeof conversation === 'string' ? conversation : conversation.id);
      await this.dependencies.threads.get({ accountId, threadId });
      return { place: { threadId, newest: await this.findNewest(accountId, threadId) } };
    }
    const runId = knownRun ?? (await this.findAwaiting(accountId, outputs));
    if (runId === undefined) return { place: { threadId: undefined, newest: undefined } };
    return { place: await this.requireNewest(accountId, await this.dependencies.runs.get({ accountId, runId })) };
  }

  private async requireNewest(accountId: AccountId, run: Run): Promise<Place> {
    const newest = await this.findNewest(accountId, run.thread_id);
    if (newest?.id !== run.id) throw notLatest(toResponseId({ runId: run.id, after: 0 }));
    return { threadId: run.thread_id, newest };
  }

  /** The run that waits for these results. Rejects with `tool_call_not_found`. */
  private async findAwaiting(accountId: AccountId, outputs: ReadRequest['outputs']): Promise<RunId | undefined> {
    if (outputs.size === 0) return undefined;
    let after: string | undefined;
    do {
      const page = await this.dependencies.runs.listAwaitedCalls({ accountId, limit: pageSize, after });
      const found = page.data.find(({ id }) => outputs.has(id));
      if (found) return found.run_id;
      after = page.next_cursor ?? undefined;
    } while (after !== undefined);
    throw new ApiError('tool_call_not_found', `No call waits for an output of ${[...outputs.keys()].join(', ')}.`);
  }

  /** The run that said the last words of a chat. Undefined: it is not known, or its thread has gone on. */
  async findChat(accountId: AccountId, request: OpenAiChatRequest, read: ReadRequest): Promise<Run | undefined> {
    const awaiting = await this.findAwaiting(accountId, read.outputs);
    if (awaiting) return this.dependencies.runs.get({ accountId, runId: awaiting });
    const lastWords = read.history.at(-1)?.text;
    if (lastWords === undefined) return undefined;
    const ends = read.history.flatMap(({ role }, index) => (role === 'user' ? [index + 1] : [])).toReversed();
    for (const end of ends.slice(0, mostAnswers)) {
      const name = toChatHash(request, read.history.slice(0, end));
      const named = await this.dependencies.ids.findRun({ accountId, facade, name });
      const run = named && (await this.dependencies.runs.get({ accountId, runId: named.runId }));
      if (run && (await this.isLastWord(accountId, run, lastWords))) return run;
    }
    return undefined;
  }

  private async isLastWord(accountId: AccountId, run: Run, words: string): Promise<boolean> {
    if (!isTerminal(run.status) && !isWaiting(run.status)) return false;
    if ((await this.findNewest(accountId, run.thread_id))?.id !== run.id) return false;
    const facts = await this.readLog({ accountId, runId: run.id });
    const after = findSegmentStarts(facts).at(-1) ?? 0;
    const translator = new ResponseTranslator(toResponseOptions(run, { runId: run.id, after }, undefined));
    for (const fact of facts) if (fact.seq > after) translator.translate(fact);
    return toText(translator.response).trim() === words.trim();
  }
}

/** Answers to questions of one run that a chat may have had. */
const mostAnswers = 5;

const notLatest = (id: string): ApiError =>
  new ApiError('message_not_newest', `${id} is not the newest response of its thread.`);

/** What a chat is found by. A person that the client names is told from others who say the same, and so are images. */
export function toChatHash(request: Pick<OpenAiChatRequest, 'model' | PersonField>, said: readonly Said[]): string {
  const user = toUser(request);
  const words = said.map(({ role, text, images = [] }) => [
    role,
    text.trim(),
    ...images.map(({ source }) => source.data),
  ]);
  const parts = [request.model ?? null, words, ...(user === undefined ? [] : [user])];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

type PersonField = 'safety_identifier' | 'user';

/** The person that the client names, where Rondo can name them so. */
export const toUser = ({ safety_identifier: identifier, user }: Pick<OpenAiChatRequest, PersonField>) =>
  endUser.safeParse(identifier ?? user).data;
