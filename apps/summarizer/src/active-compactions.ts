import type { RunId } from '@rondo/contract';
import { type Claim, ClaimLostError, type Leases, type StopRequest } from '@rondo/domain';

/** The run was told to stop, so nobody will read its summary. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** This process must go, and another one shall write the summary. */
export class LeavingError extends Error {
  override readonly name = 'LeavingError';
}

/** The runs whose history this process is folding, and the ways to make it let go of one. */
export class ActiveCompactions {
  private readonly held = new Map<Claim, AbortController>();
  private isLeaving = false;

  constructor(
    private readonly owner: string,
    private readonly leases: Leases,
  ) {}

  /** Holds the run as long as `work` takes. Its signal is aborted with the reason why the run must be let go. */
  async during<Result>(
    claim: Claim & { stop: StopRequest | undefined },
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const leave = new AbortController();
    if (claim.stop) leave.abort(new StoppedError());
    if (this.isLeaving) leave.abort(new LeavingError());
    this.held.set(claim, leave);
    try {
      return await work(leave.signal);
    } finally {
      this.held.delete(claim);
    }
  }

  stop(id: RunId): void {
    this.letGo([id], () => new StoppedError());
  }

  /** Renews every lease in one statement, which also tells of lost claims and of stops whose signal was lost (I7). */
  async beat(): Promise<void> {
    const beating = [...this.held.keys()];
    if (beating.length === 0) return;

    const { lost, stops } = await this.leases.renew(this.owner, beating);
    this.letGo(lost, (id) => new ClaimLostError(id));
    for (const { runId } of stops) this.stop(runId);
  }

  leaveAll(): void {
    this.isLeaving = true;
    for (const leave of this.held.values()) leave.abort(new LeavingError());
  }

  private letGo(ids: readonly RunId[], reason: (id: RunId) => Error): void {
    for (const [{ runId }, leave] of this.held) if (ids.includes(runId)) leave.abort(reason(runId));
  }
}
