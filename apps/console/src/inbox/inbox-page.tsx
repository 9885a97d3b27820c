import { type InboxItem, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Markdown } from '../markdown/markdown.tsx';
import { AnswerForm } from '../run/answer-box.tsx';
import { BudgetForm } from '../run/budget-form.tsx';
import { ElicitationForm } from '../run/elicitation-form.tsx';
import { useRondo } from '../session/use-session.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { ApprovalCards } from './approval-card.tsx';
import { UnknownCalls } from './unknown-calls.tsx';
import { WaitingHead } from './waiting-head.tsx';

/** Everything that waits for a person. */
export function InboxPage() {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['inbox'],
    queryFn: () => take(rondo.approvals.inbox({ limit: 100 }), 100),
    refetchInterval: 2_000,
  });
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;
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
          <AnswerForm runId={item.id} />
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
