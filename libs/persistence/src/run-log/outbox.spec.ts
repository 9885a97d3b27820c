import { Outbox, type OutboxEntry } from './outbox';
import { StoreFixture } from '../testing/store-fixture';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.open();
});
afterEach(() => fixture.close());

const create = (count: number) => Promise.all(Array.from({ length: count }, () => fixture.create()));
const remaining = () => fixture.database.prisma.outboxEntry.count();

describe('Outbox', () => {
  it('delivers every entry once when many processes publish at the same time', async () => {
    await create(30);
    const published: string[] = [];
    const add = ({ key }: OutboxEntry) => Promise.resolve(void published.push(key));

    await Promise.all(Array.from({ length: 6 }, () => new Outbox(fixture.database).publish(add)));

    expect(new Set(published).size).toBe(30);
    expect(published).toHaveLength(30);
    expect(await remaining()).toBe(0);
  });

  it('keeps an entry that could not be delivered for the next call', async () => {
    const runs = await create(3);
    const refused = `${runs[1]?.run.id}-1`;
    const refuseOne = ({ key }: OutboxEntry) =>
      key === refused ? Promise.reject(new Error('the queue is away')) : Promise.resolve();

    await expect(fixture.outbox.publish(refuseOne)).rejects.toThrow('the queue is away');

    expect(await fixture.published()).toMatchObject([{ key: refused }]);
  });

  it('publishes the entries of a dead publisher once its lock has expired, and not before', async () => {
    await create(1);
    await fixture.database.sql.query(`update outbox set taken_until = clock_timestamp() + interval '10 s'`);
    expect(await fixture.published()).toEqual([]);

    await fixture.database.sql.query(`update outbox set taken_until = clock_timestamp() - interval '1 ms'`);
    expect(await fixture.published()).toHaveLength(1);
  });

  it('delivers an entry again when its publisher died between the delivery and the delete', async () => {
    await create(1);
    const [first] = await fixture.database.prisma.outboxEntry.findMany();
    const firstPass = await fixture.published();
    if (!first) throw new Error('the run left an entry');
    const { topic, key, payload } = first;
    await fixture.database.prisma.outboxEntry.create({ data: { topic, key, payload: payload ?? {} } });

    expect(await fixture.published()).toEqual(firstPass);
  });

  it('shares passes between overlapping calls, and publishes every entry committed before a call', async () => {
    const published: string[] = [];
    const add = ({ key }: OutboxEntry) => Promise.resolve(void published.push(key));

    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { run } = await fixture.create();
        await fixture.outbox.publish(add);
        expect(published).toContain(`${run.id}-1`);
      }),
    );

    expect(published).toHaveLength(20);
  });

  it('delivers a just committed entry without reading the table, and deletes it afterwards', async () => {
    const delivered: string[] = [];
    const add = ({ key }: OutboxEntry) => Promise.resolve(void delivered.push(key));
    const jobs = (await create(3)).flatMap(({ job }) => job ?? []);

    await Promise.all(jobs.map((job) => fixture.outbox.publishEntry(job, add)));

    expect(delivered).toEqual(jobs.map(({ key }) => key));
    expect(await remaining()).toBe(0);
  });

  it('keeps what the queue refused when it was delivered over', async () => {
    const [created] = await create(1);
    if (!created?.job) throw new Error('the run may start at once');

    await expect(fixture.outbox.publishEntry(created.job, () => Promise.reject(new Error('away')))).rejects.toThrow(
      'away',
    );

    expect(await fixture.published()).toEqual([created.job]);
  });

  it('leaves entries of an unknown topic to a newer version, and publishes the others', async () => {
    const { sql } = fixture.database;
    const future = `insert into outbox (queue, job_id, payload) select 'invoices', 'in_' || n, '{}' from generate_series(1, 150) as n`;
    await sql.query(future);
    const [created] = await create(1);

    expect(await fixture.published()).toEqual([created?.job]);
    expect(await remaining()).toBe(150);
  });

  it('writes no entry when its transaction is rolled back', async () => {
    const { run } = await fixture.create();
    await fixture.published();

    await expect(fixture.create({ threadId: run.thread_id })).rejects.toMatchObject({ code: 'thread_busy' });

    expect(await remaining()).toBe(0);
  });
});
