import type { RunRow } from '@rondo/client';
import { ApprovalCards } from '../inbox/approval-card.tsx';

/** The secrets that commands of the run would use, and that a person has not decided about. The run goes on meanwhile. */
export function SecretApprovals({ rows }: { readonly rows: readonly RunRow[] }) {
  const facts = rows.flatMap((row) => (row.kind === 'note' ? row.fact : []));
  const decided = new Set(facts.flatMap((fact) => (fact.type === 'secret.decided' ? fact.data.approval_id : [])));
  const open = facts.flatMap((fact) =>
    fact.type === 'secret.requested' && !decided.has(fact.data.approval_id) ? fact.data.approval_id : [],
  );
  if (open.length === 0) return null;
  return (
    <section className="answer" aria-label="A request with a secret waits for your decision">
      <ApprovalCards ids={open} />
    </section>
  );
}
