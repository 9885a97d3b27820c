import type { AccountId, RunId } from '@rondo/contract';
import { ClaimLostError, type ClaimedRun, type ServedAccount, type StopRequest } from '@rondo/domain';
import { AbandonedError, ActiveRun } from './active-run';

const mostMissed = 1_000;
const mostRemembered = 1_000;

/** Every run that this process holds. */
export class ActiveRuns {
  private readonly runs = new Map<RunId, ActiveRun>();
  private drained = false;
  private whenEmpty: (() => void)[] = [];
  /** Stops that came for runs that are not held, the newest last: perhaps they are being claimed just now (R27). */
  private readonly missed = new Map<RunId, StopRequest>();
  /** The one that was served last is last. */
  private readonly accounts = new Set<AccountId>();

  get isLeaving(): boolean {
    return this.drained;
  }

  get size(): number {
    return this.runs.size;
  }

  /** Whoever held the run here before has lost it, though no heartbeat may have said so yet. */
  hold(claim: ClaimedRun): ActiveRun {
    this.runs.get(claim.runId)?.abandon(new ClaimLostError(claim.runId));
    const held = new ActiveRun(claim);
    if (this.drained) held.abandon(new AbandonedError('the worker is leaving'));
    const missed = this.missed.get(claim.runId);
    if (missed) held.stop(missed);
    this.runs.set(claim.runId, held);
    this.noteServed(claim.accountId);
    return held;
  }

  /** Whose runs were held here, the account that was served longest ago first, with how many are held now. */
  served(): readonly ServedAccount[] {
    const held = new Map<AccountId, number>();
    for (const { claim } of this.runs.values()) held.set(claim.accountId, (held.get(claim.accountId) ?? 0) + 1);
    return [...this.accounts].map((accountId) => ({ accountId, held: held.get(accountId) ?? 0 }));
  }

  private noteServed(account: AccountId): void {
    this.accounts.delete(account);
    this.accounts.add(account);
    const [oldest] = this.accounts;
    if (this.accounts.size > mostRemembered && oldest) this.accounts.delete(oldest);
  }

  release(held: ActiveRun): void {
    held.released();
    if (this.runs.get(held.claim.runId) === held) this.runs.delete(held.claim.runId);
    if (this.runs.size > 0) return;
    this.whenEmpty.forEach((resolve) => resolve());
    this.whenEmpty = [];
  }

  all(): readonly ActiveRun[] {
    return [...this.runs.values()];
  }

  find(id: RunId): ActiveRun | undefined {
    return this.runs.get(id);
  }

  stop(id: RunId, request: StopRequest): void {
    const held = this.runs.get(id);
    if (held) held.stop(request);
    else this.remember(id, request);
  }

  private remember(id: RunId, request: StopRequest): void {
    this.missed.set(id, request);
    const [oldest] = this.missed.keys();
    if (this.missed.size > mostMissed && oldest) this.missed.delete(oldest);
  }

  /** Asks every run to leave at its next boundary, and lets none in any more. */
  drain(): void {
    this.drained = true;
    this.runs.forEach((held) => held.drain());
  }

  empty(): Promise<void> {
    if (this.runs.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.whenEmpty.push(resolve));
  }
}
