import { runId } from '@rondo/contract';
import { AccountBudgets, keptMs } from './account-budgets';

const run = runId.parse('run_1');

function createBudgets(
  limits: { usd?: number; tokens?: number },
  answers: readonly ({ usd: number; tokens: number } | Error)[],
) {
  const asked: string[] = [];
  const failures: unknown[] = [];
  const clock = { ms: 0 };
  const budgets = new AccountBudgets({
    usd: limits.usd,
    tokens: limits.tokens,
    period: 'month',
    spentBy: (id, period) => {
      const answer = answers[asked.length];
      asked.push(`${id} ${period}`);
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve(answer && { accountId: 'acc_1', ...answer });
    },
    nowMs: () => clock.ms,
    failed: (error) => failures.push(error),
  });
  return { budgets, asked, failures, clock };
}

describe('the budget of an account', () => {
  it('costs nothing where none is set', () => {
    expect(createBudgets({}, []).budgets.of(run)).toBeUndefined();
  });

  it.each([
    [{ usd: 1 }, { usd: 0.99, tokens: 1e9 }, false],
    [{ usd: 1 }, { usd: 1, tokens: 0 }, true],
    [{ tokens: 10 }, { usd: 1e9, tokens: 9 }, false],
    [{ usd: 1, tokens: 10 }, { usd: 0, tokens: 10 }, true],
  ])('of %j is spent by %j: %s', async (limits, spent, isSpent) => {
    expect(await createBudgets(limits, [spent]).budgets.of(run)?.()).toBe(isSpent);
  });

  it('is asked about once in a while, however often a run wants to know', async () => {
    const { budgets, asked, clock } = createBudgets({ tokens: 5 }, [
      { usd: 0, tokens: 1 },
      { usd: 0, tokens: 6 },
    ]);
    const isSpent = budgets.of(run);

    expect([await isSpent?.(), await isSpent?.(), asked.length]).toEqual([false, false, 1]);
    clock.ms += keptMs;
    expect([await isSpent?.(), await isSpent?.(), asked.length]).toEqual([true, true, 2]);
  });

  it('lets runs go on while the database does not answer, and asks again at once', async () => {
    const { budgets, failures } = createBudgets({ tokens: 5 }, [new Error('away'), { usd: 0, tokens: 6 }]);
    const isSpent = budgets.of(run);

    expect([await isSpent?.(), await isSpent?.(), failures.length]).toEqual([false, true, 1]);
  });
});
