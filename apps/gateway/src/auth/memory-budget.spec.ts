import { Holding, MemoryBudget } from './memory-budget';

const refused = expect.objectContaining({ code: 'too_many_bytes_in_flight' });

describe('the memory of a gateway', () => {
  it('is shared: an account may hold half of what the others leave', () => {
    const budget = new MemoryBudget(1_000);
    const release = budget.acquire('first', 500);
    expect(() => budget.acquire('first', 1)).toThrow(refused);
    budget.acquire('second', 250);
    expect(() => budget.acquire('second', 1)).toThrow(refused);
    budget.acquire('third', 125);

    release();
    release();
    budget.acquire('first', 300);
    expect(budget.take('first', 20)).toBe(false);
  });

  it('is given back by a connection as it needs less', () => {
    const budget = new MemoryBudget(1_000);
    const connection = new Holding(budget, 'account');
    expect(connection.take(400)).toBe(true);
    expect(connection.take(200)).toBe(false);
    connection.keep(100);
    expect(connection.take(400)).toBe(true);
    connection.keep();
    budget.acquire('account', 500);
  });
});
