import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsLink } from '../connection/nats-link';
import { TestNats } from '../testing/test-nats';
import { HeardRunHolders, announceRunHolder } from './signs-of-life';

const everyMs = 20;
const validForMs = 300;

describe('signs of life of workers and summarizers', () => {
  let nats: TestNats;
  let worker: NatsLink;
  let heard: HeardRunHolders;
  let leaving: (() => void)[];

  beforeEach(async () => {
    nats = new TestNats();
    worker = await nats.link();
    const gateway = await nats.link();
    heard = new HeardRunHolders(gateway, validForMs);
    await gateway.ping();
    leaving = [];
  });
  afterEach(async () => {
    leaving.forEach((leave) => leave());
    await nats.close();
  });

  const announce = (id: string) => {
    const leave = announceRunHolder(worker, { id, service: 'agent-worker' }, { everyMs });
    leaving.push(leave);
    return leave;
  };
  const find = (id: string) => heard.processes?.find((process) => process.id === id);
  const until = async (holds: () => boolean) => {
    while (!holds()) await sleep(5);
  };

  it('are not judged before one of each process must have arrived', async () => {
    expect(heard.processes).toBeUndefined();
    await until(() => heard.processes !== undefined);
    expect(heard.processes).toEqual([]);
  });

  it('show an idle process as alive, and as silent once it gives none', async () => {
    announce('worker_1');
    await until(() => find('worker_1')?.isSilent === false);

    await worker.close(); // its timer goes on, as if it were frozen nothing arrives
    await until(() => find('worker_1')?.isSilent === true);
    expect(find('worker_1')).toMatchObject({ service: 'agent-worker' });
  });

  it('are none of a process that has left', async () => {
    const leave = announce('worker_1');
    announce('worker_2');
    await until(() => find('worker_1') !== undefined && find('worker_2') !== undefined);

    leave();
    await until(() => find('worker_1') === undefined);
    expect(find('worker_2')).toBeDefined();
  });
});
