import { type EvaluationWithResults, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMay, useRondo } from '../session/use-session.ts';
import { cost, count, moment } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { hasNothing } from '../ui/problem-text.ts';
import { FailurePage, Failure, Loading } from '../ui/states.tsx';
import { ChoiceField } from '../ui/fields.tsx';
import { Figure } from '../ui/figure.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { scoreText } from './score.tsx';
import { TaskTable } from './task-table.tsx';
import { type TaskGroup, compareInWords, pairTasks, selectTasks } from './tasks.ts';

const route = getRouteApi('/runs/evaluations/$evaluationId');
const list = { to: '/runs/evaluations', name: 'Evaluations' };

function useEvaluation(id: string | undefined) {
  const rondo = useRondo();
  return useQuery({
    queryKey: ['evaluation', id],
    queryFn: ({ signal }) => rondo.evaluations.get(id ?? '', { signal }),
    enabled: id !== undefined,
  });
}

/** An evaluation: its score, and each task with the run that answered it, beside another evaluation if one is chosen. */
export function EvaluationPage() {
  const { evaluationId } = route.useParams();
  const { other: otherId } = route.useSearch();
  const { data, error } = useEvaluation(evaluationId);
  const other = useEvaluation(otherId);
  const isOtherThere = otherId !== undefined && !hasNothing(other.error, other.data);
  if (hasNothing(error, data)) return <FailurePage error={error} list={list} />;
  if (!data) return <Loading what="the evaluation" />;
  return (
    <>
      <EvaluationHead evaluation={data} />
      <OtherChoice shown={data.id} />
      {other.error && <Failure error={other.error} />}
      {otherId !== undefined && other.isLoading ? (
        <Loading what="the other evaluation" />
      ) : (
        <Tasks evaluation={data} other={isOtherThere ? other.data : undefined} />
      )}
    </>
  );
}

function EvaluationHead({ evaluation }: { readonly evaluation: EvaluationWithResults }) {
  const { id, name, agent, model, right, scored, unjudged, errors, cost_usd: usd } = evaluation;
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const mayWrite = useMay('write');
  const remove = async () => {
    await rondo.evaluations.delete(id);
    await refreshKey(['evaluations']);
    await navigate({ to: '/runs/evaluations' });
  };
  return (
    <ItemHead
      list={list}
      crumb={<code>{id}</code>}
      title={name}
      facts={
        <>
          <p className="run-facts">
            {agent !== null && <span>{agent}</span>}
            {model !== null && <span>{model}</span>}
            <span>stored {moment(evaluation.updated_at)}</span>
          </p>
          <dl className="figures">
            <Figure name="Score" value={scoreText(evaluation)} />
            <Figure name="Right" value={`${count(right)} of ${count(scored)}`} />
            {unjudged > 0 && <Figure name="Not judged" value={count(unjudged)} />}
            <Figure name="Errors" value={count(errors)} />
            <Figure name="Cost" value={cost(usd)} />
          </dl>
        </>
      }
    >
      {mayWrite && (
        <ConfirmedAction
          name="Delete"
          label="Delete this evaluation"
          question={`Delete what ${name} has found? Its runs stay, and so do the files of the command.`}
          work={remove}
        />
      )}
    </ItemHead>
  );
}

function OtherChoice({ shown }: { readonly shown: string }) {
  const rondo = useRondo();
  const navigate = useNavigate();
  const { other } = route.useSearch();
  const { data } = useQuery({
    queryKey: ['evaluations'],
    queryFn: () => take(rondo.evaluations.list({ limit: 100 }), 500),
  });
  const others = data?.items.filter(({ id }) => id !== shown) ?? [];
  if (others.length === 0) return null;
  const choose = (id: string) =>
    void navigate({
      to: '/runs/evaluations/$evaluationId',
      params: { evaluationId: shown },
      search: id === '' ? {} : { other: id },
    });
  return (
    <div className="narrow">
      <ChoiceField
        label="Compare with"
        value={other ?? ''}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        options={[['', 'none'], ...others.map((one) => [one.id, `${one.name}, ${scoreText(one)}`] as const)]}
      />
    </div>
  );
}

interface TasksProps {
  readonly evaluation: EvaluationWithResults;
  readonly other: EvaluationWithResults | undefined;
}

const words: Record<TaskGroup, string> = { wrong: 'Wrong', failed: 'Errors', gained: 'Gained', lost: 'Lost' };

function Tasks({ evaluation, other }: TasksProps) {
  const search = route.useSearch();
  const { show, ...rest } = search;
  const all = pairTasks(evaluation.results, other?.results ?? []);
  const groups: readonly TaskGroup[] = other ? ['wrong', 'failed', 'gained', 'lost'] : ['wrong', 'failed'];
  return (
    <section className="section">
      <h2>Tasks</h2>
      {other && (
        <p>
          Since{' '}
          <Link to="/runs/evaluations/$evaluationId" params={{ evaluationId: other.id }}>
            {other.name}
          </Link>
          : {compareInWords(all)}
        </p>
      )}
      <div className="filters">
        <nav aria-label="Which tasks">
          {([undefined, ...groups] as const).map((group) => (
            <Link
              key={group ?? 'all'}
              to="/runs/evaluations/$evaluationId"
              params={{ evaluationId: evaluation.id }}
              search={group === undefined ? rest : { ...rest, show: group }}
              aria-current={group === show ? 'true' : undefined}
            >
              {group === undefined ? 'All' : words[group]} {count(selectTasks(all, group).length)}
            </Link>
          ))}
        </nav>
      </div>
      <TaskTable tasks={selectTasks(all, show)} other={other?.name} />
    </section>
  );
}
