import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsLink } from '../connection/nats-link';
import { TestNats } from '../testing/test-nats';
import { announceExecutor } from './open-executors';
import { ToolSupport } from './tool-support';

const everyMs = 20;
const validForMs = 300;

describe('ToolSupport', () => {
  let nats: TestNats;
  let executor: NatsLink;
  let support: ToolSupport;
  let leaving: (() => void)[];

  beforeEach(async () => {
    nats = new TestNats();
    executor = await nats.link();
    const listener = await nats.link();
    support = new ToolSupport(listener, validForMs);
    await listener.ping();
    leaving = [];
  });
  afterEach(async () => {
    leaving.forEach((leave) => leave());
    await nats.close();
  });

  const announce = (id: string, lacks?: Record<string, string>, problem?: string) => {
    const leave = announceExecutor(executor, id, {
      isOpen: () => Promise.resolve(problem === undefined),
      everyMs,
      ...(lacks && { lacks: () => lacks }),
      problem: () => Promise.resolve(problem),
    });
    leaving.push(leave);
    return leave;
  };
  const until = async (holds: () => boolean) => {
    while (!holds()) await sleep(5);
  };

  it('says why no tool runs while no executor is heard, and lacks nothing', () => {
    expect(support.problem).toContain('No tool-executor');
    expect(support.lacked).toEqual({});
  });

  it('knows what any executor lacks, until that one has left', async () => {
    announce('exe_old');
    const leave = announce('exe_bare', { search_engine: 'Set a key.' });
    announce('exe_rich', {});

    await until(() => 'search_engine' in support.lacked);
    expect(support.lacked).toEqual({ search_engine: 'Set a key.' });
    expect(support.problem).toBeUndefined();

    leave();
    await until(() => !('search_engine' in support.lacked));
  });

  it('has a problem only where every executor has one', async () => {
    announce('exe_sick', {}, 'bubblewrap is missing');
    await until(() => support.problem === 'bubblewrap is missing');

    announce('exe_well');
    await until(() => support.problem === undefined);
  });

  it('forgets an executor that is heard no more', async () => {
    announce('exe_1', { browser: 'No Chromium.' });
    await until(() => 'browser' in support.lacked);

    await executor.close();

    await until(() => support.problem?.includes('No tool-executor') === true);
    expect(support.lacked).toEqual({});
  });
});
