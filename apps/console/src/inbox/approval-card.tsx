import type { Approval, ApprovalDecision } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { age } from '../ui/amounts.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { parseArguments } from './parse-arguments.ts';

/** A call that is not sent before a person has decided, with exactly the arguments that it would have. */
export function ApprovalCard({ id }: { readonly id: string }) {
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['approval', id],
    queryFn: ({ signal }) => rondo.approvals.get(id, { signal }),
  });
  if (error) return <Failed error={error} />;
  if (!data) return <Loading what="the call" />;
  return data.outcome === null ? <OpenApproval approval={data} /> : <p className="hint">Decided: {data.outcome}.</p>;
}

const effects: Record<Approval['effect_class'], string> = {
  pure: 'It changes nothing.',
  idempotent: 'Doing it twice is the same as once.',
  keyed: 'It is done once, however often it is sent.',
  unsafe: 'It may change something that cannot be undone.',
};

function OpenApproval({ approval }: { readonly approval: Approval }) {
  const [edited, setEdited] = useState<string | null>(null);
  const now = useNow();
  return (
    <section className="approval" aria-label={`Approval of ${approval.name}`}>
      <header>
        <code className="call-name">{approval.name}</code>
        <span className="hint">
          {effects[approval.effect_class]} Asked {age(approval.requested_at, now)}; denied by itself at{' '}
          {new Date(approval.expires_at).toLocaleString()}.
        </span>
      </header>
      {edited === null ? (
        <pre tabIndex={0} aria-label="Arguments">
          {JSON.stringify(approval.arguments, null, 2)}
        </pre>
      ) : (
        <ArgumentsField text={edited} onChange={setEdited} />
      )}
      <Decisions approval={approval} edited={edited} setEdited={setEdited} />
    </section>
  );
}

function ArgumentsField({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  const field = useId();
  return (
    <>
      <label htmlFor={field}>Arguments, as JSON</label>
      <textarea
        id={field}
        className="code"
        rows={Math.min(16, text.split('\n').length + 1)}
        spellCheck={false}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </>
  );
}

interface DecisionsProps {
  readonly approval: Approval;
  readonly edited: string | null;
  readonly setEdited: (text: string | null) => void;
}

function Decisions({ approval, edited, setEdited }: DecisionsProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  const decide = async (decision: Omit<ApprovalDecision, 'arguments_hash'>) => {
    await rondo.approvals.decide(approval.id, { ...decision, arguments_hash: approval.arguments_hash });
    await Promise.all(['approval', 'inbox'].map((name) => refreshKey([name])));
  };
  if (!mayWrite) return null;
  if (edited !== null) {
    const send = async () => decide({ decision: 'edit', arguments: parseArguments(edited) });
    return (
      <div className="actions">
        <Action className="primary" work={send}>
          Approve with these arguments
        </Action>
        <button onClick={() => setEdited(null)}>Leave as it was</button>
      </div>
    );
  }
  return (
    <div className="actions">
      <Action className="primary" work={() => decide({ decision: 'approve' })}>
        Approve
      </Action>
      <Action className="danger" work={() => decide({ decision: 'deny' })}>
        Deny
      </Action>
      <button onClick={() => setEdited(JSON.stringify(approval.arguments, null, 2))}>Edit</button>
    </div>
  );
}
