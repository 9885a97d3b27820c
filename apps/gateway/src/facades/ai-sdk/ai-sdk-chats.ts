import { type AccountId, type Run, type ThreadId, isTerminal, isWaiting } from '@rondo/contract';
import type { AiSdkChatRequest, AiSdkMessage } from '@rondo/contract/api';
import type { Caller, FacadeIds, Runs } from '@rondo/persistence';
import type { AuditedRuns } from '../../audit/audited-runs';
import type { NewRunLog } from '../../live/run-subscriptions';
import { ApiError } from '../../problems/api-error';
import type { RunRequest, RunService } from '../../runs/run-service';
import { decideAll } from '../facade-approvals';
import { type BegunRun, type Edit, type FacadeThreads, notNewest } from '../facade-threads';
import { readDecisions, readInstructions, readOutputs, toInput } from './ai-sdk.messages';

const facade = 'ai-sdk';

/** The run metadata with the client's id of the question. */
const questionKey = 'ai_sdk_message';

/** A message of the assistant: the run that writes it, and the seq after which it begins. */
export interface ChatMessage {
  readonly run: Pick<Run, 'id' | 'thread_id' | 'settings'>;
  readonly after: number;
  readonly messageId: string;
  /** Waits up to this seq are over, and were ended elsewhere: what followed is shown. */
  readonly waitedThrough?: number;
  /** Of a run that the request has begun. */
  readonly begun?: NewRunLog | undefined;
}

interface ChatAddress {
  readonly accountId: AccountId;
  readonly chatId: string;
}

interface OpenChat {
  readonly caller: Caller;
  readonly threadId: ThreadId;
  readonly newest: Run | undefined;
}

interface AiSdkChatsDependencies {
  readonly ids: Pick<FacadeIds, 'findMessageStart' | 'beginMessage'>;
  readonly threads: FacadeThreads;
  readonly runs: Pick<Runs, 'approval'>;
  readonly service: Pick<RunService, 'answer' | 'answerCalls' | 'stop'>;
  readonly acts: Pick<AuditedRuns, 'decideTogether'>;
}

/** What clients of the AI SDK do with chats, in terms of threads and runs. It keeps nothing but the ids that they choose. */
export class AiSdkChats {
  constructor(private readonly dependencies: AiSdkChatsDependencies) {}

  /** Carries out what the newest message of a request says. Rejects with the problems of what it does. */
  async send(caller: Caller, request: AiSdkChatRequest): Promise<ChatMessage> {
    const { accountId } = caller;
    const last = request.messages.findLast(({ role }) => role !== 'system');
    if (!last) throw new ApiError('invalid_request', 'messages: the newest must be of the user or the assistant');
    const { threads } = this.dependencies;
    const threadId = await threads.find({ accountId, facade, chatId: request.id });
    if (!threadId) return this.askFirst(caller, request, last);
    const chat = { caller, threadId, newest: await threads.findNewestRun(accountId, threadId) };
    if (request.trigger === 'regenerate-message') return this.regenerate(chat, request);
    if (last.role === 'assistant') return this.takeAnswers(chat, last);
    const { newest } = chat;
    const isNew = typeof request.messageId !== 'string' && newest?.metadata[questionKey] !== last.id;
    if (newest && isNew && isWaiting(newest.status) && newest.waiting?.reason === 'ask')
      return this.answerInWords({ ...chat, newest }, last);
    return this.ask(chat, request, last);
  }

  /** The message that is being written. Undefined while none is, also while the run waits for a person. */
  async findActive({ accountId, chatId }: ChatAddress): Promise<ChatMessage | undefined> {
    const threadId = await this.dependencies.threads.find({ accountId, facade, chatId });
    const run = threadId && (await this.dependencies.threads.findNewestRun(accountId, threadId));
    if (!run || isTerminal(run.status) || isWaiting(run.status)) return undefined;
    const after = await this.dependencies.ids.findMessageStart({ accountId, facade, runId: run.id });
    return { run, after, messageId: toMessageId(run.id, after), waitedThrough: run.last_seq };
  }

  /** False: there was nothing to stop. */
  async stop({ accountId, chatId }: ChatAddress): Promise<boolean> {
    const threadId = await this.dependencies.threads.find({ accountId, facade, chatId });
    if (!threadId) throw new ApiError('thread_not_found', `There is no chat ${chatId}.`);
    const run = await this.dependencies.threads.findNewestRun(accountId, threadId);
    if (!run || isTerminal(run.status)) return false;
    const { wasTerminal } = await this.dependencies.service.stop({ accountId, runId: run.id }, 'stopped by the user');
    return !wasTerminal;
  }

  private async askFirst(caller: Caller, request: AiSdkChatRequest, last: AiSdkMessage): Promise<ChatMessage> {
    if (request.trigger === 'regenerate-message') throw nothingAsked();
    if (last.role === 'assistant') throw nothingAwaited();
    if (typeof request.messageId === 'string') throw notNewest(request.messageId);
    const wanted = { caller, facade, key: toKey(request, last), request: toRunRequest(request, last) };
    return toFirstMessage(await this.dependencies.threads.begin(wanted, request.id, undefined));
  }

  /** A new question, or the newest one with other words. */
  private async ask(chat: OpenChat, request: AiSdkChatRequest, last: AiSdkMessage): Promise<ChatMessage> {
    const { messageId } = request;
    if (typeof messageId !== 'string')
      return this.begin(chat, request, { question: last, edits: {}, key: toKey(request, last) });
    const { newest } = chat;
    if (!newest || newest.metadata[questionKey] !== messageId) throw notNewest(messageId);
    const edits = await this.dependencies.threads.findQuestionOf(newest);
    return this.begin(chat, request, { question: last, edits, key: undefined });
  }

  private async regenerate(chat: OpenChat, request: AiSdkChatRequest): Promise<ChatMessage> {
    const question = request.messages.findLast(({ role }) => role === 'user');
    const edits = question && (await this.findEdited(chat, question));
    if (!question || !edits) throw nothingAsked();
    const { accountId } = chat.caller;
    await this.dependencies.threads.requireNewest(chat.newest, { accountId, key: questionKey, id: question.id });
    const { messageId } = request;
    const isOfAnswer = messageId && messageId !== question.id; // each answer has an id of its own, and a question keeps its own
    const key = isOfAnswer ? [request.id, `${messageId}:regenerate`] : undefined;
    return this.begin(chat, request, { question, edits, key });
  }

  /** The question that the newest run began with, or else what was said last: an answer, or words from elsewhere. */
  private async findEdited({ caller, threadId, newest }: OpenChat, question: AiSdkMessage): Promise<Edit | undefined> {
    const { threads } = this.dependencies;
    if (newest && newest.metadata[questionKey] === question.id) return threads.findQuestionOf(newest);
    const id = await threads.findNewestQuestion(caller.accountId, threadId);
    return id === undefined ? undefined : { edit_message_id: id };
  }

  private async begin(
    { caller, threadId }: OpenChat,
    request: AiSdkChatRequest,
    { question, edits, key }: { question: AiSdkMessage; edits: Edit; key: readonly string[] | undefined },
  ): Promise<ChatMessage> {
    const wanted = { ...toRunRequest(request, question), ...edits };
    const run = { caller, facade, key, request: wanted };
    return toFirstMessage(await this.dependencies.threads.begin(run, request.id, threadId));
  }

  private async answerInWords(
    { caller: { accountId }, newest: run, threadId }: OpenChat & { newest: Run },
    last: AiSdkMessage,
  ): Promise<ChatMessage> {
    await this.dependencies.service.answer({ accountId, runId: run.id, content: toInput(last) });
    const after = run.last_seq;
    await this.dependencies.ids.beginMessage({ accountId, facade, threadId, runId: run.id, after });
    return { run, after, messageId: toMessageId(run.id, after) };
  }

  /** What the client has added to the newest message of the assistant, which then goes on. */
  private async takeAnswers({ caller, newest: run }: OpenChat, last: AiSdkMessage): Promise<ChatMessage> {
    if (!run || !isWaiting(run.status) || !(await this.settle(caller, run, last))) throw nothingAwaited();
    return { run, after: run.last_seq, messageId: last.id };
  }

  /** False: the message has no answer to what the run waits for. */
  private async settle(caller: Caller, { id: runId, waiting }: Run, last: AiSdkMessage): Promise<boolean> {
    const { accountId, keyId } = caller;
    const { service } = this.dependencies;
    const outputs = readOutputs(last);
    const asked = waiting?.question && outputs.get(waiting.question.tool_call_id);
    if (asked) {
      await service.answer({ accountId, runId, content: [{ type: 'text', text: asked.output ?? asked.error ?? '' }] });
      return true;
    }
    const answers = (waiting?.tool_calls ?? []).flatMap(({ tool_call_id: id }) => {
      const result = outputs.get(id);
      return result ? [{ callId: id, result }] : [];
    });
    if (answers.length > 0) await service.answerCalls({ accountId, runId, answers, answeredBy: keyId });
    const given = readDecisions(last);
    const decisions = (waiting?.approvals ?? []).flatMap(({ approval_id: approvalId }) => {
      const decided = given.get(approvalId);
      if (!decided) return [];
      return [
        { approvalId, decision: decided.approved ? ('approve' as const) : ('deny' as const), reason: decided.reason },
      ];
    });
    await decideAll(this.dependencies, caller, decisions);
    return answers.length + decisions.length > 0;
  }
}

const toKey = ({ id }: AiSdkChatRequest, question: AiSdkMessage): readonly string[] => [id, `${question.id}:submit`];

const toRunRequest = ({ model, agent, messages }: AiSdkChatRequest, question: AiSdkMessage) =>
  ({
    input: toInput(question),
    instructions: readInstructions(messages),
    model,
    agent_id: agent,
    on_active_run: 'reject',
    metadata: { [questionKey]: question.id },
  }) as RunRequest; // the request was parsed

const nothingAsked = (): ApiError =>
  new ApiError('invalid_request', 'trigger: there is no question that could be asked again');

const nothingAwaited = (): ApiError =>
  new ApiError('run_not_waiting', 'The newest message answers nothing that the run waits for.');

const toFirstMessage = ({ run, facts }: BegunRun): ChatMessage => ({
  ...{ run, after: 0, messageId: toMessageId(run.id, 0) },
  begun: facts && { run, facts },
});

/** The first message of a run has its id; later ones also say after which fact they begin. */
const toMessageId = (runId: string, after: number): string => (after === 0 ? runId : `${runId}.${after}`);
