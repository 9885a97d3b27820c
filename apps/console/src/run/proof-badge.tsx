import { type Fact, type LogProof, proveLog } from '@rondo/client';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { problemText } from '../ui/problem-text.ts';
import type { FedRun } from './run-feed.ts';

type Proof = LogProof | 'working' | { readonly problem: string } | null;

/** Computes the hash of the facts that this page shows, here, and compares it with the gateway's. */
export function ProofBadge({ runId, feed }: { readonly runId: string; readonly feed: FedRun }) {
  const rondo = useRondo();
  const [proof, setProof] = useState<Proof>(null);
  const prove = () => {
    if (!isSecureContext) {
      setProof({ problem: 'Browsers compute hashes only on https or localhost' });
      return;
    }
    setProof('working');
    rondo.runs
      .verification(runId)
      .then((gateway) => proveLog(gateway, inOrder(feed.facts)))
      .then(setProof, (error: unknown) => setProof({ problem: problemText(error) }));
  };
  const [className, words] = describe(proof, feed);
  return (
    <button className={`proof ${className}`} onClick={prove} disabled={proof === 'working'}>
      {words}
    </button>
  );
}

function describe(proof: Proof, { view }: FedRun): [className: string, words: string] {
  if (proof === null) return ['', 'Verify this log'];
  if (proof === 'working') return ['', 'Computing …'];
  if ('problem' in proof) return ['wrong', proof.problem];
  if (!proof.isProven)
    return ['wrong', `Not the gateway’s log: ${proof.count} facts here, ${proof.gateway.count} there`];
  const open = view.isOver ? 'complete' : 'complete so far';
  return ['proven', `1…${proof.gateway.last ?? 0}, ${open}, proven in this browser`];
}

// eslint-disable-next-line @typescript-eslint/require-await -- what proves takes facts as they arrive
async function* inOrder(facts: readonly Fact[]): AsyncGenerator<Fact, void> {
  yield* facts;
}
