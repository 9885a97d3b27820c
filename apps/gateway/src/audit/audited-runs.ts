import type { RunId } from '@rondo/contract';
import type { ApprovalOrder, AuditLog, Caller } from '@rondo/persistence';
import type { RunService } from '../runs/run-service';

type Order = Omit<ApprovalOrder, 'accountId' | 'decidedBy'>;

/** Acts on runs through routes on which most requests are none, so that the routes themselves are not audited. */
export class AuditedRuns {
  constructor(
    private readonly service: Pick<RunService, 'decideTogether' | 'stop'>,
    private readonly auditLog: Pick<AuditLog, 'record'>,
  ) {}

  /** All of these, or none. Each has an entry. */
  async decideTogether(caller: Caller, orders: readonly Order[]): Promise<void> {
    const { accountId, keyId: decidedBy } = caller;
    const decide = () => this.service.decideTogether(orders.map((order) => ({ accountId, decidedBy, ...order })));
    const recorded = orders.reduce(
      (perform, { approvalId }) =>
        () =>
          this.record(caller, { action: 'approval.decide', target: approvalId }, perform),
      decide,
    );
    await recorded();
  }

  stop(caller: Caller, runId: RunId, reason: string): ReturnType<RunService['stop']> {
    const { accountId } = caller;
    const stop = () => this.service.stop({ accountId, runId }, reason);
    return this.record(caller, { action: 'run.stop', target: runId }, stop);
  }

  private record<Result>(
    caller: Caller,
    act: { readonly action: string; readonly target: string },
    perform: () => Promise<Result>,
  ): Promise<Result> {
    return this.auditLog.record({ ...act, caller, address: caller.address ?? 'unknown' }, perform);
  }
}
