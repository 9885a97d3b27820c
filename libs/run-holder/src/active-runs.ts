import type { AccountId, RunId } from '@rondo/contract';
import { ClaimLostError, type ClaimedRun, type ServedAccount, type StopRequest, type Leases } from '@rondo/domain';
import { AbandonedError, ActiveRun } from './active-run';

const maxEarlyStops = 1_000;
const maxAccounts = 1_000;

/** Every run that this process has claimed and not released. */
export class ActiveRuns {
  private readonly runs = new Map<RunId, ActiveRun>();
  private draining = false;
  private whenEmpty: (() => void)[] = [];
  /** Stops of runs that are not active here, the newest last: their claims may be on their way from Postgres. */
  private readonly earlyStops = new Map<RunId, StopRequest>();
  /** The accounts in the order in which they were last served. */
  private readonly accounts = new Set<AccountId>();

  get isDraining(): boolean {
    return this.draining;
  }

  get size(): number {
    return this.runs.size;
  }

  /** A new claim of a run proves that an older one of this process was lost, even before a heartbeat finds out. */
  add(claim: ClaimedRun): ActiveRun {
    this.runs.get(claim.runId)?.abandon(new ClaimLostError(claim.runId));
    const run = new ActiveRun(claim);
    if (this.draining) run.abandon(new AbandonedError('the process is shutting down'));
    const earlyStop = this.earlyStops.get(claim.runId);
    if (earlyStop) run.stop(earlyStop);
    this.runs.set(claim.runId, run);
    this.noteServed(claim.accountId);
    return run;
  }

  remove(run: ActiveRun): void {
    run.dispose();
    if (this.runs.get(run.claim.runId) === run) this.runs.delete(run.claim.runId);
    if (this.runs.size > 0) return;
    this.whenEmpty.forEach((resolve) => resolve());
    this.whenEmpty = [];
  }

  /** The accounts of runs that were active here, the least recently served first, each with its number of active runs. */
  listServed(): readonly ServedAccount[] {
    const active = new Map<AccountId, number>();
    for (const { claim } of this.runs.values()) active.set(claim.accountId, (active.get(claim.accountId) ?? 0) + 1);
    return [...this.accounts].map((accountId) => ({ accountId, held: active.get(accountId) ?? 0 }));
  }

  all(): readonly ActiveRun[] {
    return [...this.runs.values()];
  }

  find(id: RunId): ActiveRun | undefined {
    return this.runs.get(id);
  }

  stop(id: RunId, request: StopRequest): void {
    const run = this.runs.get(id);
    if (run) run.stop(request);
    else this.noteEarlyStop(id, request);
  }

  /** Asks every run to leave at its next boundary. Runs that are added from now on are abandoned at once. */
  drain(): void {
    this.draining = true;
    this.runs.forEach((run) => run.drain());
  }

  abandonAll(reason: Error): void {
    this.runs.forEach((run) => run.abandon(reason));
  }

  /** Resolves when no run is active. */
  empty(): Promise<void> {
    if (this.runs.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.whenEmpty.push(resolve));
  }

  private noteServed(account: AccountId): void {
    this.accounts.delete(account);
    this.accounts.add(account);
    const [oldest] = this.accounts;
    if (this.accounts.size > maxAccounts && oldest) this.accounts.delete(oldest);
  }

  private noteEarlyStop(id: RunId, request: StopRequest): void {
    this.earlyStops.set(id, request);
    const [oldest] = this.earlyStops.keys();
    if (this.earlyStops.size > maxEarlyStops && oldest) this.earlyStops.delete(oldest);
  }
}

/**
 * Renews all leases of this process in one statement. The same statement returns lost claims, requested stops, and the runs that
 * were told something, so a run stops (I7), or reads, even if its signal was lost.
 */
export class Heartbeat {
  constructor(
    private readonly owner: string,
    private readonly leases: Leases,
    private readonly active: ActiveRuns,
  ) {}

  async beat(): Promise<void> {
    const renewed = this.active.all();
    if (renewed.length === 0) return;

    const { lost, stops, told } = await this.leases.renew(
      this.owner,
      renewed.map(({ claim }) => claim),
    );
    for (const { runId, stop } of stops) this.active.stop(runId, stop);
    for (const id of told) this.active.find(id)?.tell();
    // Only those whose claims were sent: a run may have been claimed again in the meantime.
    for (const run of renewed.filter(({ claim }) => lost.includes(claim.runId))) {
      run.abandon(new ClaimLostError(run.claim.runId));
    }
  }
}
