import type { Message } from '@rondo/contract';
import type { Claim, PastCall, ThreadArchive } from '@rondo/domain';
import { type MessageRow, messageOf } from './message-row';
import type { Sql } from '../database/sql';

const maxBytes = 8 * 1024 * 1024;

const messageOfThread = `
select messages.* from messages join runs on runs.id = $2
where messages.id = $1 and messages.thread_id = runs.thread_id and is_llm_message
  and (messages.run_id = runs.id or messages.seq <= runs.past_through)`;

const succeededCalls = `
select id, "runId", arguments
from (
  select call.id, call.run_id as "runId", call.arguments, reply.seq, call.index,
    sum(octet_length(call.arguments::text)) over (order by reply.seq desc, call.index desc) as bytes
  from runs
  join tool_calls as call on call.run_id = runs.id and call.name = $2 and call.status = 'completed'
  join messages as reply on reply.id = call.message_id
  where runs.thread_id = $1
) as measured
where bytes <= ${maxBytes}
order by seq, index`;

/** Reads on demand what a claim leaves out. */
export class PostgresThreadArchive implements ThreadArchive {
  constructor(
    private readonly sql: Sql,
    private readonly run: Claim,
  ) {}

  async message(id: string): Promise<Message | undefined> {
    const [row] = await this.sql.query<MessageRow>(messageOfThread, [id, this.run.runId]);
    return row && messageOf(row);
  }

  succeeded(tool: string): Promise<readonly PastCall[]> {
    return this.sql.query<PastCall>(succeededCalls, [this.run.threadId, tool]);
  }
}
