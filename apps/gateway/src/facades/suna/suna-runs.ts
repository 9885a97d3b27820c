import {
  type AccountId,
  type InputBlock,
  type Run,
  type ThreadId,
  isTerminal,
  isWaiting,
  runStatus,
} from '@rondo/contract';
import type { SunaAnyStart, SunaInitiation, SunaRow, SunaStart } from '@rondo/contract/api';
import type { Agents, Caller, Messages, RunAddress, Runs, Thread, ThreadAddress, Threads } from '@rondo/persistence';
import type { AccountQuotas } from '../../billing/account-quotas';
import { ApiError, InvalidRequest } from '../../problems/api-error';
import type { RunRequest, RunService } from '../../runs/run-service';
import { findNamedAgent } from '../named-agents';
import { toContent, toMessageRows, toSunaRow } from './suna.rows';

const pageSize = 100;
const mostMessages = 1_000;

interface SunaRunsDependencies {
  readonly runs: Pick<Runs, 'get' | 'list' | 'events'>;
  readonly threads: Pick<Threads, 'get' | 'list' | 'create'>;
  readonly messages: Pick<Messages, 'add' | 'list'>;
  readonly agents: Pick<Agents, 'findId'>;
  readonly service: Pick<RunService, 'create' | 'answer' | 'stop'>;
  readonly quotas: Pick<AccountQuotas, 'add'>;
}

/** What clients of Suna do, in terms of threads and runs, whose ids they see. */
export class SunaRuns {
  constructor(private readonly dependencies: SunaRunsDependencies) {}

  async createThread(accountId: AccountId, title: string | undefined): Promise<Thread> {
    await this.dependencies.quotas.add(accountId, { threads: 1 });
    return this.dependencies.threads.create({ accountId, title, metadata: {} });
  }

  /** The newest first. */
  async listThreads(accountId: AccountId): Promise<readonly Thread[]> {
    return (await this.dependencies.threads.list({ accountId, limit: pageSize })).data;
  }

  getThread(address: ThreadAddress): Promise<Thread> {
    return this.dependencies.threads.get(address);
  }

  getRun(address: RunAddress): Promise<Run> {
    return this.dependencies.runs.get(address);
  }

  /** A run on a new thread. Rejects with the problems of beginning a run. */
  async initiate(caller: Caller, { prompt: input, files, ...settings }: SunaInitiation): Promise<Run> {
    return this.begin(caller, { input, files, ...(await this.readSettings(caller.accountId, settings)) });
  }

  /** A run that reads what was said on the thread since the last one, or the run that is active there. */
  async start(caller: Caller, threadId: ThreadId, settings: SunaStart): Promise<Run> {
    const newest = await this.findNewest({ accountId: caller.accountId, threadId });
    if (newest && !isTerminal(newest.status) && !isWaiting(newest.status)) return newest;
    return this.begin(caller, { thread_id: threadId, ...(await this.readSettings(caller.accountId, settings)) });
  }

  /** A run on a new thread or on this one, with what is said; or the run that is active there: what is said waits for the next one. */
  async startAny(caller: Caller, { thread_id: threadId, prompt, files, ...settings }: SunaAnyStart): Promise<Run> {
    if (threadId == null) {
      if (prompt === undefined) throw new InvalidRequest([{ field: 'prompt', message: 'a new thread needs one' }]);
      return this.initiate(caller, { prompt: [{ type: 'text', text: prompt }], files, ...settings });
    }
    const address = { accountId: caller.accountId, threadId };
    const newest = await this.findNewest(address);
    if (newest && !isTerminal(newest.status)) {
      if (files) throw new InvalidRequest([{ field: 'files', message: `${newest.id} is active: it takes no files` }]);
      if (prompt !== undefined) await this.say(address, prompt);
      const isAnswered = prompt !== undefined && newest.waiting?.reason === 'ask';
      return isAnswered ? newest : this.start(caller, threadId, settings);
    }
    const input: InputBlock[] | undefined = prompt === undefined ? undefined : [{ type: 'text', text: prompt }];
    const wanted = { thread_id: threadId, input, files, ...(await this.readSettings(caller.accountId, settings)) };
    return this.begin(caller, wanted);
  }

  /** The message, or the answer to the question of the newest run. */
  async say(address: ThreadAddress, text: string): Promise<SunaRow> {
    const content: InputBlock[] = [{ type: 'text', text }];
    const newest = await this.findNewest(address);
    if (newest && isWaiting(newest.status) && newest.waiting?.reason === 'ask')
      return this.answer(newest, { accountId: address.accountId, runId: newest.id }, content);
    await this.dependencies.quotas.add(address.accountId, { message_bytes: 0 });
    const [row] = toMessageRows(await this.dependencies.messages.add({ ...address, content, promised: undefined }));
    if (!row) throw new Error('a message of a user has a row');
    return row;
  }

  async stop(address: RunAddress): Promise<void> {
    await this.dependencies.service.stop(address, 'stopped by the user');
  }

  /** Newest first. */
  async listActive(accountId: AccountId): Promise<readonly Run[]> {
    const statuses = runStatus.options.filter((status) => !isTerminal(status) && !isWaiting(status));
    return (await this.dependencies.runs.list({ accountId, statuses, limit: pageSize })).data;
  }

  async listRuns({ accountId, threadId }: ThreadAddress): Promise<readonly Run[]> {
    await this.dependencies.threads.get({ accountId, threadId });
    return (await this.dependencies.runs.list({ accountId, threadId, limit: pageSize })).data;
  }

  /** The newest, the oldest of them first. */
  async listMessages({ accountId, threadId }: ThreadAddress): Promise<readonly SunaRow[]> {
    const rows: SunaRow[] = [];
    let after: string | undefined;
    do {
      const page = await this.dependencies.messages.list({
        accountId,
        threadId,
        order: 'desc',
        limit: pageSize,
        after,
      });
      rows.push(...page.data.flatMap((message) => toMessageRows(message).toReversed()));
      after = page.next_cursor ?? undefined;
    } while (after !== undefined && rows.length < mostMessages);
    return rows.slice(0, mostMessages).reverse();
  }

  private async findNewest({ accountId, threadId }: ThreadAddress): Promise<Run | undefined> {
    return (await this.dependencies.runs.list({ accountId, threadId, limit: 1 })).data[0];
  }

  private async answer(waiting: Run, address: RunAddress, content: InputBlock[]): Promise<SunaRow> {
    await this.dependencies.service.answer({ ...address, content });
    const { data } = await this.dependencies.runs.events(address, { after: waiting.last_seq, limit: pageSize });
    const given = data.find((fact) => fact.type === 'message.created' && fact.data.message.type === 'user');
    if (given?.type !== 'message.created') throw new Error(`the answer to ${waiting.id} is not in its log`);
    const { message } = given.data;
    const { id: message_id, type, is_llm_message } = message;
    const parts = { message_id, thread_id: waiting.thread_id, type, is_llm_message, at: given.at };
    return toSunaRow({ ...parts, content: toContent(message), metadata: { thread_run_id: waiting.id } });
  }

  private async begin({ accountId, keyId: createdBy }: Caller, given: Partial<RunRequest>): Promise<Run> {
    const request: RunRequest = { on_active_run: 'reject', metadata: {}, ...given };
    return (await this.dependencies.service.create(accountId, request, { createdBy })).run;
  }

  private async readSettings(
    accountId: AccountId,
    { agent_id: name, model_name: model }: SunaStart,
  ): Promise<Partial<RunRequest>> {
    const agent = name == null ? undefined : await findNamedAgent(this.dependencies.agents, accountId, name);
    if (name != null && !agent) throw new ApiError('agent_not_found', `There is no agent ${name}.`);
    return { ...(agent && { agent_id: agent }), ...(model != null && { model }) };
  }
}
