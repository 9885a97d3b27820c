import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxLog } from '../provider/sandbox-provider';
import { type ProcessTable, readProcessTable } from './processes/process-table';
import type { HostSandbox } from './host-sandbox';

/** Checks all at the same time, so that one with many files to count does not delay the others. Reads the process table once. */
export async function enforceDiskQuotas(
  sandboxes: readonly HostSandbox[],
  { withinMs, log }: { readonly withinMs: number; readonly log: SandboxLog },
): Promise<void> {
  let table: ProcessTable | undefined;
  const processes = () => (table ??= readProcessTable());
  const checks = sandboxes.map(async (sandbox) => {
    const refusal = await sandbox.disk.enforce(processes);
    if (refusal !== undefined) log.warn({ threadId: sandbox.id, refusal }, 'disk quota exceeded');
  });
  await Promise.race([Promise.all(checks), delay(withinMs, undefined, { ref: false })]);
}
