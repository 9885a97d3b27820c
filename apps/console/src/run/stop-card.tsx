import type { RunView, StopReceipt } from '@rondo/client';
import { between, duration } from '../ui/amounts.ts';
import type { RunDetails } from './run-details.ts';

/** Clocks of two machines may differ by a little: nothing ends before the stop. */
const after = (ms: number): string => (ms < 1 ? '+0 ms' : `+${duration(ms)}`);

/** What the stop has ended so far. A line that is not true yet is empty. */
export function StopCard({ view, details }: { readonly view: RunView; readonly details: RunDetails }) {
  const { stopRequest } = details;
  if (!stopRequest) return null;
  const receipt = view.stop?.receipt;
  const since = (at: string | null | undefined) => (at == null ? null : after(between(stopRequest.at, at)));
  const names = new Map(view.rows.flatMap((row) => (row.kind === 'tool_call' ? [[row.id, row.name] as const] : [])));
  const running = view.rows.flatMap((row) => (row.kind === 'tool_call' && row.status === 'dispatched' ? [row] : []));
  return (
    <section className="receipt" aria-label="Receipt of the stop" tabIndex={0}>
      <h2>{receipt ? 'Stopped' : 'Stopping'}</h2>
      {stopRequest.reason !== null && <p className="hint">{stopRequest.reason}</p>}
      <dl>
        <Line name="Stop recorded" value="+0 ms" />
        {(!receipt || receipt.model_aborted_at !== null) && (
          <Line name="Model stream closed" value={since(receipt?.model_aborted_at)} />
        )}
        {receipt?.tools_stopped.map((tool) => (
          <Line
            key={tool.tool_call_id}
            name={describeStoppedCall(names.get(tool.tool_call_id) ?? 'Tool call', tool.processes)}
            value={tool.verified_dead_at === null ? 'not verified' : since(tool.verified_dead_at)}
            isTrue={tool.verified_dead_at !== null}
          />
        ))}
        {!receipt && running.map(({ id, name }) => <Line key={id} name={`${name} ended`} value={null} />)}
        {receipt && receipt.sandbox_verified_at !== null && (
          <Line name="Nothing left in the sandbox" value={since(receipt.sandbox_verified_at)} />
        )}
        <Line name="Tokens after the stop" value={receipt ? String(receipt.tokens_after_stop) : null} />
      </dl>
    </section>
  );
}

/** Only a call that left processes running has names of processes: no number is said where none was counted. */
function describeStoppedCall(name: string, processes: StopReceipt['tools_stopped'][number]['processes'] = []): string {
  return processes.length === 0 ? `${name} ended` : `${name} ended, with what it left running: ${processes.join(', ')}`;
}

interface LineProps {
  readonly name: string;
  readonly value: string | null;
  readonly isTrue?: boolean;
}

function Line({ name, value, isTrue = value !== null }: LineProps) {
  return (
    <div className={isTrue ? 'true' : 'open'}>
      <dt>{name}</dt>
      <dd>{value ?? 'not yet'}</dd>
    </div>
  );
}
