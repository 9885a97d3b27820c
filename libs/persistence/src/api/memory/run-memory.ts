import type { AccountId, MemoryStoreId, RunId } from '@rondo/contract';
import { type MemoryAnswer, type RunMemory, TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import { MemoryEntries } from './memory-entries';
import { readableJson } from '../../database/stored-text';

interface MemoryClaim {
  readonly accountId: AccountId;
  readonly runId: RunId;
}

/** The event that has planned a call. */
const plannedAt = createQuery(
  z.object({ seq: z.number() }),
  `
select seq from run_events where run_id = $1 and type = 'tool.planned' and ${readableJson('data')} -> 'tool_call' ->> 'id' = $2`,
);

const mostListed = 200;
const mostFound = 10;

/** The stores of the account of a run, for its tools. */
export class PostgresRunMemory implements RunMemory {
  private readonly entries: MemoryEntries;

  constructor(
    private readonly database: Database,
    private readonly claim: MemoryClaim,
  ) {
    this.entries = new MemoryEntries(database);
  }

  list(store: MemoryStoreId) {
    return asAnswer(async () => (await this.entries.list({ ...this.at(store), limit: mostListed })).data);
  }

  read(store: MemoryStoreId, path: string) {
    return asAnswer(() => this.entries.read({ ...this.at(store), path }));
  }

  search(store: MemoryStoreId, query: string) {
    return asAnswer(() => this.entries.search({ ...this.at(store), query, limit: mostFound }));
  }

  write(store: MemoryStoreId, { callId, ...entry }: Parameters<RunMemory['write']>[1]) {
    const { runId } = this.claim;
    return asAnswer(async () => {
      const planned = await plannedAt.first(this.database.sql, [runId, callId]);
      const writer = { caller_id: null, run_id: runId, tool_call_id: callId, seq: planned?.seq ?? null };
      return this.entries.write({ ...this.at(store), ...entry, writer });
    });
  }

  delete(store: MemoryStoreId, { path, version }: Parameters<RunMemory['delete']>[1]) {
    return asAnswer(() =>
      this.entries.delete({ ...this.at(store), path, ifVersion: version }).catch((error: unknown) => {
        if (codeIn(error) !== 'memory_entry_not_found') throw error; // an earlier attempt of the call has deleted it
      }),
    );
  }

  private at(store: MemoryStoreId) {
    return { accountId: this.claim.accountId, memoryStoreId: store };
  }
}

const codeIn = (error: unknown): string | undefined => (error instanceof TerminalError ? error.code : undefined);

/** What the rules of a store refuse is an answer for the model. Everything else is no answer: the call is made again. */
async function asAnswer<T>(ask: () => Promise<T>): Promise<MemoryAnswer<T>> {
  try {
    return { how: 'done', value: await ask() };
  } catch (error) {
    if (codeIn(error) === undefined) throw error;
    return { how: 'refused', reason: (error as TerminalError).message };
  }
}
