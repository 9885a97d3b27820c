import { type InboxItem, take, type Run } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Markdown } from '../markdown/markdown.tsx';
import { AnswerForm } from '../run/answer-box.tsx';
import { BudgetForm } from '../run/budget-form.tsx';
import { ElicitationForm } from '../run/elicitation-form.tsx';
import { useRondo } from '../session/use-session.ts';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { ApprovalCards } from '../run/approval-card.tsx';
import { UnknownCalls } from '../run/unknown-calls.tsx';
import { nameAgent, useRunTitle } from '../runs/run-title.ts';
import { between, duration } from '../ui/amounts.ts';
import { useNow } from '../ui/use-now.ts';

/** Everything that waits for a person. */
export function InboxPage() {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['inbox'],
    queryFn: () => take(rondo.approvals.inbox({ limit: 100 }), 100),
    refetchInterval: 2_000,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the inbox" />;
  return (
    <>
      <div className="page-head">
        <h1>Inbox</h1>
      </div>
      {data.items.length === 0 && (
        <Empty title="Nothing waits for you.">
          <p>Questions, approvals and calls with an unknown outcome appear here.</p>
        </Empty>
      )}
      {data.items.map((item) => (
        <WaitingRun key={item.id} item={item} />
      ))}
      {data.hasMore && <p className="hint">More are waiting; they appear when these are decided.</p>}
    </>
  );
}

function WaitingRun({ item }: { readonly item: InboxItem }) {
  const { waiting } = item;
  return (
    <article className="waiting">
      <WaitingHead item={item} />
      {waiting.reason === 'ask' && (
        <>
          <Markdown text={waiting.question?.text ?? ''} />
          <AnswerForm key={waiting.question?.tool_call_id} runId={item.id} />
        </>
      )}
      {waiting.approvals && <ApprovalCards ids={waiting.approvals.map(({ approval_id: id }) => id)} />}
      {waiting.elicitations?.map((asked) => (
        <ElicitationForm key={`${asked.tool_call_id} ${asked.key}`} asked={asked} />
      ))}
      {waiting.reason === 'tool_unknown' && <UnknownCalls runId={item.id} />}
      {waiting.reason === 'budget' && <BudgetForm runId={item.id} budget={waiting.budget} />}
    </article>
  );
}

/** Which run waits, of which model and agent, and since when. */
export function WaitingHead({ item }: { readonly item: InboxItem }) {
  const rondo = useRondo();
  const { data: run } = useQuery({
    queryKey: ['run', item.id],
    queryFn: ({ signal }) => rondo.runs.get(item.id, { signal }),
  });
  const { data: why } = useQuery({
    queryKey: ['why', item.id, item.status, item.waiting],
    queryFn: ({ signal }) => rondo.runs.why(item.id, { signal }),
  });
  return (
    <header>
      <h2>
        <Link to="/runs/$runId" params={{ runId: item.id }}>
          {run ? <Title run={run} /> : item.id}
        </Link>
      </h2>
      <p className="run-facts">
        {run && <span>{run.model}</span>}
        {run && <span>{toAgent(run)}</span>}
        {why && <WaitingTime since={why.since} />}
      </p>
    </header>
  );
}

function Title({ run }: { readonly run: Run }) {
  return <bdi>{useRunTitle(run) ?? run.id}</bdi>;
}

const toAgent = (run: Run): string =>
  run.agent_version === null ? nameAgent(run) : `${nameAgent(run)}, version ${run.agent_version}`;

function WaitingTime({ since }: { readonly since: string }) {
  const now = useNow();
  return (
    <time dateTime={since} title={new Date(since).toLocaleString()}>
      has waited {duration(Math.max(0, between(since, new Date(now).toISOString())))}
    </time>
  );
}
