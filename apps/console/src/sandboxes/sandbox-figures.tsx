import type { SandboxStatus } from '@rondo/client';
import { bytes, cost, duration } from '../ui/amounts.ts';

/** What it takes and has cost, as far as its executor knows. */
export function SandboxFigures({ sandbox }: { readonly sandbox: SandboxStatus }) {
  const { provider, disk_bytes: disk, running_seconds: seconds, cost_usd: usd, executor_id: executor } = sandbox;
  return (
    <span className="run-facts">
      {provider !== null && <span>{provider}</span>}
      {disk !== null && <span>{bytes(disk)} of files</span>}
      {seconds !== null && <span>awake for {duration(seconds * 1000)}</span>}
      {usd !== null && <span>{cost(usd)}</span>}
      <code>{executor}</code>
    </span>
  );
}
