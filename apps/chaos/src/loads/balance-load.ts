import { type Balance, RondoError, type Run } from '@rondo/client';
import { never } from '../scorecard/findings';
import { comesTrue, inLanes } from '../test-bed/pace';
import { type PatientClient, collect } from '../test-bed/patient-client';
import type { TestBed } from '../test-bed/test-bed';
import { type Load, type LoadAudit, repeats } from './load';

const tier = 'prepaid';
const price = [{ input: 10, output: 10 }];
const grantUsd = 0.25;
/** Costs are sums of floating-point numbers. */
const roundingUsd = 1e-6;

/** Accounts have no limit, except those with the tier `prepaid`, which may spend nothing but their credit. */
const settings = {
  ACCOUNT_TIERS: JSON.stringify({ default: 'unlimited', tiers: { unlimited: {}, [tier]: { usd: 0 } } }),
  MODEL_PRICES: JSON.stringify({ 'demo/loop': price }),
};
/** Of the deployment. */
export const billingSettings = { gateway: settings, 'agent-worker': settings, summarizer: settings };

const loop = { model: 'demo/loop', input: 'Go on.', limits: { max_iterations: 8 }, llm: { max_tokens: 500 } };

/** An account whose runs spend its credit together; more is given whenever it is used up. */
export class BalanceLoad implements Load {
  private grantedUsd = 0;
  private refused = 0;
  private ranOut = 0;
  private readonly unfinished: string[] = [];

  private constructor(
    private readonly testBed: TestBed,
    private readonly account: { readonly id: string; readonly client: PatientClient },
    private readonly atOnce: number,
  ) {}

  static async start(testBed: TestBed, atOnce: number): Promise<BalanceLoad> {
    const { account, api_key: key } = await testBed.client.accounts.create('Prepaid');
    await testBed.client.accounts.setTier(account.id, tier);
    const load = new BalanceLoad(testBed, { id: account.id, client: testBed.client.withKey(key) }, atOnce);
    await load.grant();
    return load;
  }

  async run(over: AbortSignal, withinMs: number): Promise<void> {
    await inLanes({ over, atOnce: this.atOnce }, () => this.spend(withinMs));
    await comesTrue(async () => (await this.balance()).reserved_usd === 0, withinMs);
  }

  async audit(): Promise<LoadAudit> {
    const { client } = this.account;
    const { spent_usd: spent, reserved_usd: reserved, credit_usd: credit } = await this.balance();
    const runs = await collect(client.runs.list());
    const entries = await collect(client.usageEntries());
    const inLogs = await this.readCalls(runs);
    const inLedger = entries.map(({ id }) => id);
    const ofRuns = sum(runs.map(({ usage }) => usage.cost_usd ?? NaN));
    const ofEntries = sum(entries.map(({ cost_usd: cost }) => cost ?? NaN));
    const ofLogs = sum(inLogs.map(({ cost }) => cost));
    const amounts = { spent, ofRuns, ofEntries, ofLogs, left: this.grantedUsd - credit };
    const differing = Object.values(amounts).filter((amount) => !isSame(amount, spent)).length;
    return {
      kind: 'charges of model calls',
      seen: entries.length,
      lost: inLogs.filter(({ id }) => !inLedger.includes(id)).length,
      doubled:
        repeats(inLogs.map(({ id }) => id)) + inLedger.filter((id) => !inLogs.some((one) => one.id === id)).length,
      bars: [
        never('sums of charges that differ', differing),
        never('USD spent beyond the credit', Math.max(0, Math.round((spent - this.grantedUsd) * 1e6) / 1e6)),
        never('USD still reserved', reserved),
        never('runs of the account that are not over', this.unfinished.length),
      ],
      details: [
        ...(differing > 0
          ? [`the sums of charges are ${JSON.stringify({ granted: this.grantedUsd, ...amounts })}`]
          : []),
        ...this.unfinished.map((id) => `${id}, on credit, did not end`),
      ],
      counts: { 'runs that used up the credit': this.ranOut, 'runs refused without credit': this.refused },
      runIds: [],
    };
  }

  private async spend(withinMs: number): Promise<void> {
    const { client } = this.account;
    try {
      const { id } = await client.runs.create(loop);
      this.testBed.progress.started += 1;
      const ended = await client.waitForRun(id, withinMs);
      if (!ended) this.unfinished.push(id);
      if (ended?.finish_reason === 'budget_exceeded') {
        this.ranOut += 1;
        await this.grant();
      }
      this.testBed.progress.ended += 1;
    } catch (error) {
      if (!(error instanceof RondoError && error.code === 'balance_exhausted')) throw error;
      this.refused += 1;
      await this.grant();
    }
  }

  /** Counted before the answer, which may be lost: the request is repeated under its key until there is one. */
  private async grant(): Promise<void> {
    this.grantedUsd += grantUsd;
    await this.testBed.client.accounts.giveCredit(this.account.id, { usd: grantUsd });
  }

  private balance(): Promise<Balance> {
    return this.account.client.balance();
  }

  private async readCalls(runs: readonly Run[]): Promise<{ id: string; cost: number }[]> {
    const calls: { id: string; cost: number }[] = [];
    for (const { id } of runs) {
      const facts = await this.account.client.facts(id);
      const recorded = facts.filter((fact) => fact.type === 'usage.recorded');
      calls.push(...recorded.map(({ data }) => ({ id: data.model_call_id, cost: Number(data.cost_usd) })));
    }
    return calls;
  }
}

const isSame = (one: number, other: number): boolean => Math.abs(one - other) < roundingUsd;
const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);
