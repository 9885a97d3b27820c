import type { AccountId, Schedule, TriggeredRun } from '@rondo/contract';
import { templateProblem } from '@rondo/domain';
import type { Agents, QuotaBounds } from '@rondo/persistence';
import type { AccountQuotas } from '../billing/account-quotas';
import { InvalidRequest, refuseField } from '../problems/api-error';
import type { RunSettingsResolver } from '../settings/run-settings';

interface Judged {
  readonly accountId: AccountId;
  readonly fields: Pick<Schedule, 'overlap' | 'thread' | 'thread_id' | 'run'>;
  /** The names with which the paths of its input begin. */
  readonly roots: readonly string[];
}

/** What schedules and webhook triggers have in common: one whose runs could not begin is refused when it is stored. */
export class TriggerRules {
  constructor(
    private readonly agents: Pick<Agents, 'get'>,
    private readonly settings: Pick<RunSettingsResolver, 'resolve'>,
  ) {}

  /** Throws InvalidRequest with the field; rejects with `agent_not_found`. */
  async require({ accountId, fields, roots }: Judged): Promise<void> {
    const { overlap, thread, thread_id: threadId, run } = fields;
    if (overlap === 'allow' && thread === 'same') throw refuseField('overlap', 'runs on one thread cannot overlap');
    if (thread === 'new' && threadId !== null) throw refuseField('thread_id', 'needs "thread": "same"');
    const problem = templateProblem(run.input, roots);
    if (problem !== undefined) throw refuseField('run.input', problem);
    this.requireSettings(accountId, run);
    if (run.agent_id !== undefined) await this.agents.get({ accountId, agentId: run.agent_id });
  }

  private requireSettings(accountId: AccountId, { profile, model, limits, budget, environment }: TriggeredRun): void {
    const outcome = this.settings.resolve({ profile, model, limits, budget, environment }, { account: accountId });
    if (!('problems' in outcome)) return;
    throw new InvalidRequest(outcome.problems.map(({ field, message }) => ({ field: `run.${field}`, message })));
  }
}

const judgedFields = ['overlap', 'thread', 'thread_id', 'run'] as const satisfies readonly (keyof Judged['fields'])[];

type Changes = { readonly [Name in (typeof judgedFields)[number] | 'is_paused']?: unknown };

/** Whether runs must be able to begin after a change. What has lost its agent or its model since can still be paused, and renamed. */
export const startsOtherRuns = (changes: Changes): boolean =>
  changes.is_paused === false || judgedFields.some((name) => changes[name] !== undefined);

/** Stores a trigger that begins a thread for all its runs, or one that does not. Rejects with QuotaExceeded. */
export function withinThreads<Stored>(
  quotas: Pick<AccountQuotas, 'within'>,
  { accountId, fields }: { readonly accountId: AccountId; readonly fields: Pick<Schedule, 'thread' | 'thread_id'> },
  store: (bounds?: QuotaBounds) => Promise<Stored>,
): Promise<Stored> {
  const beginsThread = fields.thread === 'same' && fields.thread_id === null;
  return beginsThread ? quotas.within(accountId, { threads: 1 }, store) : store();
}

/** The fields after a change; undefined ones stay. Without a shared thread there is no thread to name. */
export function changeFields<Fields extends Judged['fields']>(known: Fields, changes: object): Fields {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined);
  const given = Object.fromEntries(entries) as Partial<Fields>; // fields of a change are of the same types
  const leavesThread = given.thread === 'new' && given.thread_id === undefined;
  return { ...known, ...(leavesThread && { thread_id: null }), ...given };
}
