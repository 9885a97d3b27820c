import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId } from '@rondo/contract';
import {
  type AccountTier,
  type AccountTiers,
  type AgentPorts,
  type CallSize,
  type ClaimedRun,
  TerminalError,
  allowsModel,
  resolvePriceFactor,
} from '@rondo/domain';
import type { AccountTerms, ReservationOrder, ReservationVerdict, Reservations } from '@rondo/persistence';
import { LruCache } from '@rondo/platform';

export interface AccountReservationsParts {
  readonly tiers: AccountTiers;
  readonly reservations: Pick<Reservations, 'reserve' | 'count' | 'toTerms'>;
  /** Undefined: the price is not known. */
  readonly computeCost: (size: CallSize) => number | undefined;
  readonly nowMs: () => number;
}

/** What was called before is written, and with it settled. */
export interface CallJournal {
  commit(): Promise<void>;
}

interface KnownTerms {
  readonly atMs: number;
  readonly terms: Promise<AccountTerms>;
}

type Order = ReservationOrder & { readonly claim: ClaimedRun };

/** A worker asks again after this time which tier and price factor an account has. */
export const keptMs = 5_000;
const keptAccounts = 10_000;

/** How often a run looks whether others have settled their calls. */
const retryMs = 250;

/**
 * How long the continuation of a reply waits for others. What the reply has cost so far stays reserved meanwhile, so that
 * two such runs could wait for each other.
 */
export const continuationWaitMs = 10_000;

/**
 * Reserves the cost of model calls in the balances of accounts that are limited. An account whose tier allows any amount costs
 * one short read in five seconds, however many runs it has.
 */
export class AccountReservations {
  private readonly known = new LruCache<AccountId, KnownTerms>(keptAccounts);

  constructor(private readonly parts: AccountReservationsParts) {}

  /** The port of one run. It rejects where the balance cannot be read, so that nothing is spent unseen. */
  of(
    claim: ClaimedRun,
    { journal, abandon }: { journal: CallJournal; abandon: AbortSignal },
  ): NonNullable<AgentPorts['reserve']> {
    return async (model, readSize, stop) => {
      const terms = await this.toTerms(claim.accountId);
      const tier = this.parts.tiers.of(terms.tier);
      if (!allowsModel(tier, model)) throw notAllowed(model, tier);
      const { usd, period } = tier;
      if (usd === undefined) return true;
      const size = await readSize();
      const cost = this.parts.computeCost(size);
      if (cost === undefined) return false;
      await journal.commit();
      return this.waitFor(
        { claim, usd: cost * resolvePriceFactor(tier, terms.priceFactor), limit: { usd, period } },
        { ended: AbortSignal.any([stop, abandon]), withinMs: size.unsettledUsd > 0 ? continuationWaitMs : Infinity },
      );
    };
  }

  private async waitFor(order: Order, { ended, withinMs }: { ended: AbortSignal; withinMs: number }): Promise<boolean> {
    const since = this.parts.nowMs();
    while (!ended.aborted) {
      const verdict: ReservationVerdict = await this.parts.reservations.reserve(order);
      if (verdict === 'granted') return true;
      if (verdict === 'lacking') return false;
      if (verdict === 'uncounted') await this.parts.reservations.count(order.claim.accountId, order.limit);
      else if (this.parts.nowMs() - since > withinMs) return false;
      else await sleep(retryMs, undefined, { signal: ended }).catch(() => undefined); // an end is looked at above
    }
    return true;
  }

  private toTerms(account: AccountId): Promise<AccountTerms> {
    const entry = this.known.get(account);
    const atMs = this.parts.nowMs();
    if (entry && atMs - entry.atMs < keptMs) return entry.terms;
    const terms = this.parts.reservations.toTerms(account);
    this.known.set(account, { atMs, terms });
    terms.catch(() => this.known.delete(account)); // the run that asked has the error
    return terms;
  }
}

/** New runs are checked before; this is for child runs, and for runs from before a change of the tier. */
const notAllowed = (model: string, { name }: AccountTier): TerminalError =>
  new TerminalError('model_not_allowed', `The tier ${name} does not have the model ${model}.`);
