import { type Rondo, describeEnding } from '@rondo/client';
import { type UsedRun, useRun } from '@rondo/client/react';
import { useMemo } from 'react';
import { Button } from './button.tsx';
import { toChatItems } from './chat-items.ts';
import { count } from './describe-note.ts';
import { ItemList, type ItemParts, PlainNote } from './items.tsx';
import { WaitingLine } from './waits.tsx';

export interface RunViewProps {
  readonly rondo: Rondo;
  readonly runId: string;
  readonly parts?: ItemParts | undefined;
}

/** One run, live, with how it ended, and the way to stop it. */
export function RunView({ rondo, runId, parts }: RunViewProps) {
  return <ShownRun rondo={rondo} used={useRun(rondo, runId)} parts={parts} />;
}

interface ShownRunProps extends Omit<RunViewProps, 'runId'> {
  readonly used: Pick<UsedRun, 'view' | 'error' | 'stop'>;
}

/** The same of a run that is followed already. */
export function ShownRun({ rondo, used: { view, error, stop }, parts }: ShownRunProps) {
  const { runId, rows, status, finishReason, failure, waiting, isOver, lastSeq, usage } = view;
  const items = useMemo(() => toChatItems([{ runId, rows }]), [runId, rows]);
  const ending = describeEnding({ status, finish_reason: finishReason, error: failure });
  const isUsageKnown = usage.input_tokens + usage.output_tokens > 0;
  return (
    <section className="rondo-run" aria-busy={!isOver}>
      <ItemList rondo={rondo} items={items} parts={{ Note: PlainNote, ...parts }} label="Run" />
      <WaitingLine waiting={waiting} />
      {error && (
        <p className="rondo-problem" role="alert">
          {error.message}
        </p>
      )}
      <p className="rondo-status" role="status">
        {ending ? ending.sentence : lastSeq === 0 ? 'Loading …' : status.replaceAll('_', ' ')}
      </p>
      {isUsageKnown && (
        <p className="rondo-status">
          {count(usage.input_tokens)} tokens in, {count(usage.output_tokens)} out
        </p>
      )}
      {!isOver && lastSeq > 0 && <Button work={() => stop()}>Stop</Button>}
    </section>
  );
}
