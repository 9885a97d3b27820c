import { type Execution, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { age, ahead } from '../ui/amounts.ts';
import { Failure, Loading, NotAll } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';

const shown = 50;

const reasons: Record<NonNullable<Execution['reason']>, string> = {
  missed: 'it was missed',
  too_many_missed: 'too many were missed',
  overlap: 'an earlier run is not finished',
  queue_full: 'too many wait already',
  retry: 'it is tried again',
};

const words: Record<Execution['status'], string> = {
  started: 'A run was started',
  pending: 'Still to come',
  skipped: 'Skipped',
  failed: 'Failed',
};

interface ExecutionTableProps {
  /** Whose they are. */
  readonly id: string;
  readonly read: () => AsyncIterable<Execution>;
  readonly none: string;
}

/** The outcomes of due times, or of webhooks. */
export function ExecutionTable({ id, read, none }: ExecutionTableProps) {
  const now = useNow();
  const { data, error } = useQuery({
    queryKey: ['executions', id],
    queryFn: () => take(read(), shown),
    refetchInterval: 3_000,
  });
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Loading what="executions" />;
  if (data.items.length === 0) return <p className="hint">{none}</p>;
  return (
    <>
      <Table label="Executions" columns={['When', 'Outcome', 'Run']}>
        {data.items.map((execution) => (
          <ExecutionRow key={execution.id} execution={execution} now={now} />
        ))}
      </Table>
      <NotAll list={data} what="executions" />
    </>
  );
}

function ExecutionRow({ execution, now }: { readonly execution: Execution; readonly now: number }) {
  const {
    run_id: runId,
    run_status: status,
    run_finish_reason: finishReason,
    due_at: due,
    created_at: created,
  } = execution;
  const at = due ?? created;
  return (
    <tr>
      <td className="nowrap" title={new Date(at).toLocaleString()}>
        {age(at, now)}
      </td>
      <td>{toOutcome(execution, now)}</td>
      <td>
        {runId !== null && (
          <Link to="/runs/$runId" params={{ runId }} title={runId}>
            {status === null ? runId : <Status status={status} finishReason={finishReason} />}
          </Link>
        )}
      </td>
    </tr>
  );
}

function toOutcome({ status, reason, error, attempts, next_attempt_at: next }: Execution, now: number): string {
  const parts = [
    words[status],
    reason === null ? '' : reasons[reason],
    error === null ? '' : error.detail,
    next === null ? '' : `attempt ${attempts + 1} ${ahead(next, now)}`,
  ];
  return parts.filter((part) => part !== '').join(': ');
}

/** What became of the newest time or webhook, where triggers are listed: how its run ended, or that it has none. */
export function ExecutionMark({ execution }: { readonly execution: Execution }) {
  const { status, run_status: runStatus, run_finish_reason: finishReason } = execution;
  if (runStatus !== null) return <Status status={runStatus} finishReason={finishReason} />;
  return (
    <span className={`status ${status}`}>
      <i aria-hidden="true" />
      {words[status]}
    </span>
  );
}

/** The same on the page of a trigger, with the way to the run, or the reason that there is none. */
export function LastExecution({ execution }: { readonly execution: Execution | null }) {
  const now = useNow();
  if (execution === null) return null;
  const { run_id: runId, due_at: due, created_at: created, error } = execution;
  const mark = <ExecutionMark execution={execution} />;
  return (
    <div>
      <dt>Last run</dt>
      <dd>
        {runId === null ? (
          mark
        ) : (
          <Link to="/runs/$runId" params={{ runId }} title={runId}>
            {mark}
          </Link>
        )}{' '}
        {age(due ?? created, now)}
        {error && `: ${error.detail}`}
      </dd>
    </div>
  );
}
