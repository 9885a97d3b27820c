import { Outbox, type OutboxEntry } from './outbox';
import { StoreFixture } from '../testing/store-fixture';

let house: StoreFixture;
beforeEach(async () => {
  house = await StoreFixture.open();
});
afterEach(() => house.close());

const create = (count: number) => Promise.all(Array.from({ length: count }, () => house.create()));
const left = () => house.database.prisma.outboxEntry.count();

describe('Outbox', () => {
  it('hands over every entry once when many publish at the same time (R10)', async () => {
    await create(30);
    const published: string[] = [];
    const add = ({ jobId }: OutboxEntry) => Promise.resolve(void published.push(jobId));

    await Promise.all(Array.from({ length: 6 }, () => new Outbox(house.database).publish(add)));

    expect(new Set(published).size).toBe(30);
    expect(published).toHaveLength(30);
    expect(await left()).toBe(0);
  });

  it('keeps what the queue refused for the next call', async () => {
    const runs = await create(3);
    const refused = `${runs[1]?.run.id}-1`;
    const refuseOne = ({ jobId }: OutboxEntry) =>
      jobId === refused ? Promise.reject(new Error('the queue is away')) : Promise.resolve();

    await expect(house.outbox.publish(refuseOne)).rejects.toThrow('the queue is away');

    expect(await house.published()).toMatchObject([{ jobId: refused }]);
  });

  it('gives what a publisher took and died with to another, but not while it may live', async () => {
    await create(1);
    await house.database.sql.query(`update outbox set taken_until = clock_timestamp() + interval '10 s'`);
    expect(await house.published()).toEqual([]);

    await house.database.sql.query(`update outbox set taken_until = clock_timestamp()`);
    expect(await house.published()).toHaveLength(1);
  });

  it('hands an entry over again when a publisher died between the queue and the delete', async () => {
    await create(1);
    const [first] = await house.database.prisma.outboxEntry.findMany();
    const firstRound = await house.published();
    if (!first) throw new Error('the run left an entry');
    const { queue, jobId, payload } = first;
    await house.database.prisma.outboxEntry.create({ data: { queue, jobId, payload: payload ?? {} } });

    expect(await house.published()).toEqual(firstRound);
  });

  it('shares rounds between calls that overlap, and misses nothing that was there before a call', async () => {
    const published: string[] = [];
    const add = ({ jobId }: OutboxEntry) => Promise.resolve(void published.push(jobId));

    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { run } = await house.create();
        await house.outbox.publish(add);
        expect(published).toContain(`${run.id}-1`);
      }),
    );

    expect(published).toHaveLength(20);
  });

  it('hands over what was just committed without looking for it, and forgets it then', async () => {
    const handed: string[] = [];
    const add = ({ jobId }: OutboxEntry) => Promise.resolve(void handed.push(jobId));
    const jobs = (await create(3)).flatMap(({ job }) => job ?? []);

    await Promise.all(jobs.map((job) => house.outbox.hand(job, add)));

    expect(handed).toEqual(jobs.map(({ jobId }) => jobId));
    expect(await left()).toBe(0);
  });

  it('keeps what the queue refused when it was handed over', async () => {
    const [created] = await create(1);
    if (!created?.job) throw new Error('the run may begin at once');

    await expect(house.outbox.hand(created.job, () => Promise.reject(new Error('away')))).rejects.toThrow('away');

    expect(await house.published()).toEqual([created.job]);
  });

  it('writes nothing when the transaction that asked for it fails', async () => {
    const { run } = await house.create();
    await house.published();

    await expect(house.create({ threadId: run.thread_id })).rejects.toMatchObject({ code: 'thread_busy' });

    expect(await left()).toBe(0);
  });
});
