import { type Evaluation, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RunsTabs } from '../ui/tabs.tsx';
import { useRondo } from '../session/use-session.ts';
import { age, cost, count } from '../ui/amounts.ts';
import { Empty, Failure, Loading, NotAll } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { Score } from './score.tsx';

/** What evaluations of agents have found. */
export function EvaluationsPage() {
  const rondo = useRondo();
  const now = useNow();
  const { data, error, refetch } = useQuery({
    queryKey: ['evaluations'],
    queryFn: () => take(rondo.evaluations.list({ limit: 100 }), 500),
    refetchInterval: 10_000,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Evaluations</h1>
        <RunsTabs />
      </div>
      {!data && <Loading what="evaluations" />}
      {data?.items.length === 0 && (
        <Empty title="No evaluations yet.">
          <p>
            An evaluation asks an agent every question of a dataset and says how good it was:{' '}
            <code>npx rondo eval run questions.jsonl --name before</code>
          </p>
        </Empty>
      )}
      {data && data.items.length > 0 && (
        <Table
          label="Evaluations"
          columns={['Name', 'Answered by', 'Score', ['Errors', 'number'], ['Cost', 'number'], 'Stored']}
        >
          {data.items.map((evaluation) => (
            <EvaluationRow key={evaluation.id} evaluation={evaluation} now={now} />
          ))}
        </Table>
      )}
      <NotAll list={data} what="evaluations" />
    </>
  );
}

function EvaluationRow({ evaluation, now }: { readonly evaluation: Evaluation; readonly now: number }) {
  const { id, name, agent, model, errors, cost_usd: usd, updated_at: at } = evaluation;
  return (
    <tr>
      <td>
        <Link to="/runs/evaluations/$evaluationId" params={{ evaluationId: id }}>
          {name}
        </Link>
      </td>
      <td>{[agent, model].filter(Boolean).join(', ')}</td>
      <td>
        <Score evaluation={evaluation} />
      </td>
      <td className="number">{count(errors)}</td>
      <td className="number">{cost(usd)}</td>
      <td className="nowrap" title={new Date(at).toLocaleString()}>
        {age(at, now)}
      </td>
    </tr>
  );
}
