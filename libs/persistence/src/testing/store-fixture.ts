import {
  type AccountId,
  type InputBlock,
  type NewFact,
  type RecordedFact,
  type RunId,
  type RunSettings,
  callId,
  messageId,
  modelCallId,
  noUsage,
} from '@rondo/contract';
import { type Claim, type ClaimedRun, effectiveSettings } from '@rondo/domain';
import { plannedCall } from '@rondo/domain/testing';
import { Accounts } from '../api/accounts';
import { Blobs } from '../api/blobs/blobs';
import { Messages } from '../api/messages';
import { Outbox, type OutboxEntry } from '../run-log/outbox';
import { PostgresRunStore } from '../run-store/postgres-run-store';
import type { NewRun } from '../api/runs/create-run';
import { Runs } from '../api/runs/runs';
import { Threads } from '../api/threads';
import { type TestDatabase, makeTestDatabase } from './test-database';

let idCount = 0;

/** Ids that ascend within one process, as long as those of services. */
export const nextId = (): string => {
  idCount += 1;
  return `${Date.now().toString(36).toUpperCase()}${idCount.toString(36).toUpperCase().padStart(18, '0')}`;
};

export const settings: RunSettings = (() => {
  const effective = effectiveSettings({}, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the defaults are valid');
  return effective.settings;
})();

export const textInput = (text: string): InputBlock[] => [{ type: 'text', text }];

/** A database with one account in it, and everything that a gateway and a worker use. */
export class StoreFixture {
  readonly runs: Runs;
  readonly store: PostgresRunStore;
  /** The summarizers' side. */
  readonly compactions: PostgresRunStore;
  readonly outbox: Outbox;
  readonly threads: Threads;
  readonly messages: Messages;
  readonly blobs: Blobs;
  readonly promoted: RecordedFact[] = [];
  /** How often a run came forward. */
  promotions = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly accountId: AccountId,
  ) {
    this.runs = new Runs(database, nextId);
    this.store = new PostgresRunStore({
      database,
      newId: nextId,
      onPromoted: (facts) => {
        this.promotions += 1;
        this.promoted.push(...facts);
      },
    });
    this.compactions = new PostgresRunStore({ database, newId: nextId, queue: 'compactions' });
    this.outbox = new Outbox(database);
    this.threads = new Threads(database, nextId);
    this.messages = new Messages(database, nextId);
    this.blobs = new Blobs(database);
  }

  static async open(): Promise<StoreFixture> {
    const database = await makeTestDatabase();
    return new StoreFixture(database, await newAccount(database));
  }

  close(): Promise<void> {
    return this.database.drop();
  }

  /** The one plan that a connection makes of a statement, whatever it will be given. `values` is SQL; without it, all parameters are null. */
  explain(statement: string, values?: string): Promise<string> {
    const nothing = [...new Set(statement.match(/\$\d+/g))].map(() => 'null').join(', ');
    const given = values ?? nothing;
    return this.database.transaction(async (sql) => {
      await sql.query(`prepare explained as ${statement}`);
      const lines = await sql.query<{ 'QUERY PLAN': string }>(
        `explain (costs off) execute explained ${given === '' ? '' : `(${given})`}`,
      );
      await sql.query('deallocate explained');
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    });
  }

  /**
   * A pattern for the index by which a row of this table is found by its id. Beside the key, release 18 of Postgres can use one
   * that begins with the account, whose values it skips through: where the tables are small that is as good.
   */
  async idIndex(table: 'runs' | 'threads'): Promise<string> {
    const [server] = await this.database.sql.query<{ release: number }>(
      `select current_setting('server_version_num')::int / 10000 as release`,
    );
    return (server?.release ?? 0) < 18 ? `${table}_pkey` : `${table}_(?:pkey|account_id_id_idx)`;
  }

  create(wanted: Partial<NewRun> = {}) {
    const { accountId } = this;
    return this.runs.create({
      accountId,
      settings,
      input: textInput('Go.'),
      metadata: {},
      onActiveRun: 'reject',
      ...wanted,
    });
  }

  /** A new run that `owner` holds. */
  async claimed(owner = 'worker-1'): Promise<ClaimedRun> {
    const { run } = await this.create();
    return this.claim(run.id, owner);
  }

  async claim(id: RunId, owner = 'worker-1'): Promise<ClaimedRun> {
    const claim = await this.store.claim(id, owner);
    if (!claim) throw new Error(`${id} could not be claimed`);
    return claim;
  }

  async expireLease(id: RunId): Promise<void> {
    await this.database.sql.query(
      `update runs set lease_expires_at = clock_timestamp() - interval '1 s' where id = $1`,
      [id],
    );
  }

  /** Takes what is in the outbox, as a publisher would. */
  async published(): Promise<OutboxEntry[]> {
    const entries: OutboxEntry[] = [];
    await this.outbox.publish((entry) => Promise.resolve(void entries.push(entry)));
    return entries;
  }
}

export async function newAccount(database: TestDatabase): Promise<AccountId> {
  const { account } = await new Accounts(database, nextId).create({ name: 'test', scopes: [] });
  return account.id;
}

export const started: NewFact = { type: 'run.started', iteration: 0, data: {} };

export const completed: NewFact = {
  type: 'run.completed',
  iteration: 1,
  data: { finish_reason: 'stop', usage: noUsage },
};

/** What its holder writes of a run that it was told to stop, and that had nothing to stop. */
export const stopped = (reason: string | null): NewFact => ({
  type: 'run.stopped',
  iteration: 1,
  data: {
    reason,
    receipt: {
      ...{ requested_at: '2026-01-01T00:00:00.000Z', model_aborted_at: null, tools_stopped: [] },
      ...{ tokens_after_stop: 0, sandbox_verified_at: null },
    },
    usage: noUsage,
  },
});

/** The model has answered, so the reply is whole. */
export const usage = (given: Partial<Extract<NewFact, { type: 'usage.recorded' }>['data']> = {}): NewFact => ({
  type: 'usage.recorded',
  iteration: 1,
  data: {
    model_call_id: modelCallId.parse(`mdl_${nextId()}`),
    model: 'demo/coder',
    ...{ input_tokens: 10, cached_tokens: 0, output_tokens: 5, cost_usd: 0.5, estimated: false },
    ...{ finish_reason: 'stop', duration_ms: 5, first_token_ms: null },
    ...given,
  },
});

export const waits: NewFact = {
  type: 'run.waiting',
  iteration: 1,
  data: { reason: 'ask', question: { text: 'Which?', attachments: [], tool_call_id: 'call_1' } },
};

export const iterationStarted = (iteration: number): Extract<NewFact, { type: 'iteration.started' }> => ({
  type: 'iteration.started',
  iteration,
  data: { iteration, message_id: messageId.parse(`msg_${nextId()}`) },
});

export const reply = ({ threadId, runId }: Claim, text: string, id = messageId.parse(`msg_${nextId()}`)): NewFact => ({
  type: 'message.created',
  iteration: 1,
  data: {
    message: {
      id,
      thread_id: threadId,
      run_id: runId,
      iteration: 1,
      type: 'assistant',
      is_llm_message: true,
      content: [{ type: 'text', text }],
      metadata: {},
    },
  },
});

/** The first iteration up to the end of its reply, which has these calls. */
export function wholeReply(claim: Claim, calls: readonly NewFact[]): NewFact[] {
  const begun = iterationStarted(1);
  return [started, begun, reply(claim, 'Let me see.', begun.data.message_id), ...calls, usage()];
}

export type Planned = Extract<NewFact, { type: 'tool.planned' }>;

export const planned = (
  { runId }: Claim,
  { name, input = {}, index = 0 }: { name: string; input?: Record<string, unknown>; index?: number },
): Planned => ({
  type: 'tool.planned',
  iteration: 1,
  data: {
    tool_call: plannedCall({
      id: callId.parse(`call_${nextId()}`),
      run_id: runId,
      index,
      name,
      arguments: input,
    }),
  },
});

/** The call is on its way to an executor. */
export const sent = ({ data: { tool_call: call } }: Planned): NewFact => ({
  type: 'tool.started',
  iteration: 1,
  data: { tool_call_id: call.id, name: call.name, attempt: 1, store: null },
});
