import { DatabaseError } from 'pg';
import { StatementBatcher } from './statement-batcher';

/** Answers when it is told to, and notes which questions came together. */
class Statement {
  readonly groups: number[][] = [];
  private readonly open: (() => void)[] = [];

  readonly ask = async (questions: readonly number[]): Promise<number[]> => {
    this.groups.push([...questions]);
    await new Promise<void>((resolve) => this.open.push(resolve));
    return questions.map((question) => question * 10);
  };

  async end(): Promise<void> {
    while (this.open.length === 0) await new Promise(setImmediate);
    this.open.shift()?.();
  }
}

const refusal = (code: string) => Object.assign(new DatabaseError('bad', 1, 'error'), { code });

describe('Together', () => {
  it('asks at once what is asked in one turn of the event loop', async () => {
    const statement = new Statement();
    const together = new StatementBatcher(statement.ask);

    const answers = Promise.all([together.of(1), together.of(2)]);
    await statement.end();

    expect(await answers).toEqual([10, 20]);
    expect(statement.groups).toEqual([[1, 2]]);
  });

  it('never lets a question join a statement that has begun', async () => {
    const statement = new Statement();
    const together = new StatementBatcher(statement.ask);

    const first = together.of(1);
    while (statement.groups.length === 0) await new Promise(setImmediate);
    const others = Promise.all([together.of(2), together.of(3)]);
    await statement.end();
    await statement.end();

    expect([await first, ...(await others)]).toEqual([10, 20, 30]);
    expect(statement.groups).toEqual([[1], [2, 3]]);
  });

  it('asks together what came meanwhile and what the answers led to', async () => {
    const statement = new Statement();
    const together = new StatementBatcher(statement.ask);

    const first = together.of(1).then(() => together.of(2));
    while (statement.groups.length === 0) await new Promise(setImmediate);
    const other = together.of(3);
    await statement.end();
    await statement.end();

    expect(await Promise.all([first, other])).toEqual([20, 30]);
    expect(statement.groups).toEqual([[1], [3, 2]]);
  });

  it.each([
    ['data that it cannot read', '22P05'],
    ['a constraint', '23505'],
    ['memory', '53200'],
    ['a limit of its own', '54000'],
    ['a size that it cannot allocate', 'XX000'],
    ['time', '57014'],
  ])('asks each alone when Postgres refuses one of them for %s', async (_, code) => {
    const together = new StatementBatcher<number, number>((questions) =>
      questions.includes(2) ? Promise.reject(refusal(code)) : Promise.resolve([...questions]),
    );

    const outcomes = await Promise.allSettled([together.of(1), together.of(2), together.of(3)]);

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('puts no more into one statement than it can carry, and what is heavier than that goes alone', async () => {
    const statement = new Statement();
    const megabytes = { weigh: (question: number) => question * 1024 * 1024 };
    const together = new StatementBatcher(statement.ask, megabytes);

    const answers = Promise.all([6, 500, 6, 3, 6].map((question) => together.of(question)));
    for (let statements = 0; statements < 3; statements += 1) await statement.end();

    expect(await answers).toEqual([60, 5000, 60, 30, 60]);
    expect(statement.groups).toEqual([[6, 6, 3], [500], [6]]);
  });

  it('asks no more of them alone once two of them have taken too long alone', async () => {
    const asked: (readonly number[])[] = [];
    const together = new StatementBatcher<number, number>((questions) => {
      asked.push(questions);
      return questions.length === 1 && questions[0] === 1 ? Promise.resolve([1]) : Promise.reject(refusal('57014'));
    });

    const outcomes = await Promise.allSettled([0, 2, 3, 1].map((question) => together.of(question)));

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
    expect(asked).toEqual([[0, 2, 3, 1], [0], [2]]);
  });

  it('repeats no statement whose outcome is unknown', async () => {
    let asked = 0;
    const together = new StatementBatcher<number, number>(() => {
      asked += 1;
      return Promise.reject(new Error('Connection terminated unexpectedly'));
    });

    const outcomes = await Promise.allSettled([together.of(1), together.of(2)]);

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(asked).toBe(1);
  });
});
