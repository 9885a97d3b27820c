import { type ToolCall, type ToolCallResolution, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

/** Calls that may or may not have taken effect. */
export function UnknownCalls({ runId }: { readonly runId: string }) {
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['calls', runId],
    queryFn: () => take(rondo.runs.toolCalls(runId), 1_000),
  });
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Loading what="the calls" />;
  return data.items.map((call) => (call.status === 'unknown' ? <UnknownCall key={call.id} call={call} /> : null));
}

const rulings: readonly { readonly outcome: ToolCallResolution['outcome']; readonly words: string }[] = [
  { outcome: 'completed', words: 'It took effect' },
  { outcome: 'not_applied', words: 'It did not' },
  { outcome: 'retry', words: 'Send it again' },
];

function UnknownCall({ call }: { readonly call: ToolCall }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  const rule = async (outcome: ToolCallResolution['outcome']) => {
    await rondo.runs.resolve(call.id, { outcome });
    await Promise.all([refreshKey(['calls', call.run_id]), refreshKey(['inbox'])]);
  };
  return (
    <div role="group" className="approval" aria-label={`${call.name}, outcome unknown`}>
      <header>
        <code className="call-name">{call.name}</code>
        <span className="hint">It was sent, and no answer came. Did it take effect?</span>
      </header>
      <pre tabIndex={0} aria-label="Arguments">
        {JSON.stringify(call.arguments, null, 2)}
      </pre>
      {mayWrite && (
        <div className="actions">
          {rulings.map(({ outcome, words }) => (
            <Action key={outcome} work={() => rule(outcome)}>
              {words}
            </Action>
          ))}
        </div>
      )}
    </div>
  );
}
