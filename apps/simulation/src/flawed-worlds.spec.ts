import type { SentCall, ToolAnswer } from '@rondo/domain';
import { checkSchedules, describeFailure } from './check-schedules';
import type { RunRow } from './simulated-run-row';
import { SimulatedStore } from './simulated-store';
import { SimulatedTools } from './simulated-tools';
import type { WorldParts } from './world';

/** Each test takes seconds of CPU, and minutes on a busy machine. */
jest.setTimeout(600_000);

/** The same worlds in every run of the tests. */
const seed = 1;

describe('a world with a planted flaw', () => {
  class UnfencedStore extends SimulatedStore {
    protected override mayWrite(): boolean {
      return true;
    }
  }

  class UnreapedStore extends SimulatedStore {
    override reap(): Promise<number> {
      return Promise.resolve(0);
    }
  }

  class StopIgnoringStore extends SimulatedStore {
    override append: SimulatedStore['append'] = (claim, facts) => {
      const row: RunRow = this.row(claim.runId);
      const { stop } = row;
      row.stop = undefined;
      return super.append(claim, facts).finally(() => (row.stop = stop));
    };
  }

  class ResendingTools extends SimulatedTools {
    override reattach({ call }: SentCall, signal: AbortSignal): Promise<ToolAnswer> {
      return this.execute({ ...call, attempt: call.attempt + 50 }, signal);
    }
  }

  class PrematureTools extends SimulatedTools {
    override execute(call: SentCall['call'], signal: AbortSignal): Promise<ToolAnswer> {
      void super.execute(call, signal).catch(() => undefined);
      return Promise.resolve({ how: 'answered', result: { success: true, output: 'surely' }, durationMs: 0 });
    }
  }

  class ImprovisingTools extends SimulatedTools {
    override execute(call: SentCall['call'], signal: AbortSignal): Promise<ToolAnswer> {
      return super.execute({ ...call, arguments: { ...call.arguments, command: 'make trouble' } }, signal);
    }
  }

  const flaws: [string, RegExp, WorldParts][] = [
    ['a store that lets older holders write', /^I3/, { toStore: (its) => new UnfencedStore(its) }],
    ['a store without a reaper', /^I1.*never ended/, { toStore: (its) => new UnreapedStore(its) }],
    ['a store in which an end may overtake a stop', /I7/, { toStore: (its) => new StopIgnoringStore(its) }],
    [
      'tools that send an open call again',
      /took effect twice|happened after its death/,
      { toTools: (its) => new ResendingTools(its) },
    ],
    ['tools that answer before the work is done', /^I5.*never happened/, { toTools: (its) => new PrematureTools(its) }],
    [
      'tools that run something other than what was approved',
      /^I5.*without its approval/,
      { toTools: (its) => new ImprovisingTools(its) },
    ],
  ];

  it.each(flaws)('is noticed: %s', async (_, broken, parts) => {
    const { failure } = await checkSchedules({ schedules: 600, seed, parts, asFound: true });

    expect(failure?.outcome.violations.some((violation) => broken.test(violation))).toBe(true);
  });

  it('is shrunk, and reproduced by its seed and path', async () => {
    const parts: WorldParts = { toStore: (its) => new UnreapedStore(its) }; // of all flaws the one that is shrunk fastest
    const { failure } = await checkSchedules({ schedules: 600, seed, parts });
    const again = await checkSchedules({ schedules: 1, seed, path: failure?.path, parts, asFound: true });

    expect(failure?.schedule.runs.length).toBeLessThanOrEqual(2);
    expect(failure?.schedule.faults.length).toBeLessThanOrEqual(2);
    expect(again.failure?.schedule).toEqual(failure?.schedule);
    expect(failure && describeFailure(failure)).toContain(`--seed ${seed} --path ${again.failure?.path ?? ''}`);
  });
});
