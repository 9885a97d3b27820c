import type { Run } from '@rondo/contract';
import { type ReplyState, replay } from '@rondo/domain';
import { createQuery } from '../database/checked-query';
import { readableJson } from '../database/stored-text';
import type { Sql } from '../database/sql';
import { factRow, toFact } from './run-row';

const message = `${readableJson('data')} -> 'message'`;

/** Of messages and calls only the ids: their contents may be large, or be what makes a log unreadable, as may a time. */
const factsOfReply = createQuery(
  factRow,
  `
select id, seq, type, run_id, $3 as thread_id, iteration, epoch, clock_timestamp() as at,
  case type
    when 'message.created' then (
      select json_build_object('message', json_build_object(
        'id', said -> 'id', 'type', said -> 'type', 'is_llm_message', said -> 'is_llm_message', 'metadata', '{}'::json
      ))
      from (select ${message} as said) as message
    )
    when 'tool.planned' then json_build_object('tool_call', json_build_object('id', ${readableJson('data')} -> 'tool_call' -> 'id'))
    else data
  end as data
from run_events
where run_id = $1 and iteration = $2
  and type in ('iteration.started', 'iteration.restarted', 'iteration.completed', 'message.created', 'usage.recorded', 'tool.planned')
order by seq`,
);

/** The current reply of a run, for a process that ends the run without its log. */
export async function readReply(sql: Sql, { id, thread_id, iteration }: Run): Promise<ReplyState> {
  const rows = iteration === 0 ? [] : await factsOfReply.all(sql, [id, iteration, thread_id]);
  return replay(rows.map(toFact));
}
