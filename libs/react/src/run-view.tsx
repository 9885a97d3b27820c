import { type Rondo, describeEnding } from '@rondo/client';
import { useRun } from '@rondo/client/react';
import { useMemo } from 'react';
import { Button } from './button.tsx';
import { toChatItems } from './chat-items.ts';
import { ItemList, type ItemParts } from './items.tsx';
import { WaitingLine } from './waits.tsx';

export interface RunViewProps {
  readonly rondo: Rondo;
  readonly runId: string;
  readonly parts?: ItemParts | undefined;
}

/** One run, live, with how it ended, and the way to stop it. */
export function RunView({ rondo, runId, parts }: RunViewProps) {
  const { view, error, stop } = useRun(rondo, runId);
  const { rows, status, finishReason, failure, waiting, isOver, lastSeq } = view;
  const items = useMemo(() => toChatItems([{ runId, rows }]), [runId, rows]);
  const ending = describeEnding({ status, finish_reason: finishReason, error: failure });
  return (
    <section className="rondo-run" aria-busy={!isOver}>
      <ItemList rondo={rondo} items={items} parts={parts} label="Run" />
      <WaitingLine waiting={waiting} />
      {error && (
        <p className="rondo-problem" role="alert">
          {error.message}
        </p>
      )}
      <p className="rondo-status" role="status">
        {ending ? ending.sentence : lastSeq === 0 ? 'Loading …' : status.replaceAll('_', ' ')}
      </p>
      {!isOver && lastSeq > 0 && <Button work={() => stop()}>Stop</Button>}
    </section>
  );
}
