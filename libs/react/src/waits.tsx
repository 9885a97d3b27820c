import type { Approval, ApprovalDecision, Waiting } from '@rondo/client';
import { useState } from 'react';
import { Button } from './button.tsx';

interface ApprovalsProps {
  readonly approvals: readonly Approval[];
  readonly approve: (approval: Approval, decision: Omit<ApprovalDecision, 'arguments_hash'>) => Promise<unknown>;
}

/** The calls that a person decides about, with exactly the arguments that they would be sent with. */
export function Approvals({ approvals, approve }: ApprovalsProps) {
  return approvals.map((approval) => (
    <div key={approval.id} role="group" className="rondo-approval" aria-label={`Approval of ${approval.name}`}>
      <p>
        May the agent call <code>{approval.name}</code>?
      </p>
      <pre tabIndex={0} aria-label="Arguments">
        {JSON.stringify(approval.arguments, null, 2)}
      </pre>
      <Decision decide={(decision) => approve(approval, decision)} />
    </div>
  ));
}

interface DecisionProps {
  readonly decide: (decision: Omit<ApprovalDecision, 'arguments_hash'>) => Promise<unknown>;
}

function Decision({ decide }: DecisionProps) {
  const [reason, setReason] = useState('');
  const deny = () => decide({ decision: 'deny', ...(reason.trim() !== '' && { reason }) });
  return (
    <div className="rondo-actions">
      <Button className="rondo-primary" work={() => decide({ decision: 'approve' })}>
        Approve
      </Button>
      <Button work={deny}>Deny</Button>
      <input
        aria-label="Reason of a denial"
        placeholder="Why not"
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </div>
  );
}

const sentences: Record<Waiting['reason'], string> = {
  ask: 'It waits for an answer.',
  approval: 'It waits for a decision about its calls.',
  elicitation: 'A connected tool asks a person.',
  caller_tools: 'It waits for the program that started it.',
  budget: 'It has used up its budget, and waits for a higher one.',
  tool_unknown: 'It waits for a decision about a call whose outcome is unknown.',
  child_runs: 'It waits for other agents.',
};

/** What a run waits for. */
export function WaitingLine({ waiting }: { readonly waiting: Waiting | null }) {
  return waiting ? (
    <p className="rondo-waiting" role="status">
      {sentences[waiting.reason]}
    </p>
  ) : null;
}
