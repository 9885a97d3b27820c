import { Controller, type INestMicroservice, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type ClientProxy,
  ClientProxyFactory,
  MessagePattern,
  type MicroserviceOptions,
  RpcException,
  Transport,
} from '@nestjs/microservices';
import { type ThreadId, threadId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { natsTransportOptions, signals } from '@rondo/messaging';
import { SandboxPlacement } from './sandbox-placement';

const thread = threadId.parse('thr_1');

function natsUrl(): string {
  const url = process.env['TEST_NATS_URL'];
  if (url === undefined) throw new Error('TEST_NATS_URL must name a NATS server');
  return url;
}

/** Nest's patterns have no namespace, and real executors of other specs listen on the same server. */
const namespace = `spec${process.pid}x${Date.now()}`;

/** An executor of the group, as far as a worker that looks for a place can see. */
async function executor(answer: () => string): Promise<INestMicroservice> {
  @Controller()
  class Placements {
    @MessagePattern(`${namespace}.${signals.place.pattern}`)
    place() {
      return { executor_id: answer() };
    }
  }
  @Module({ controllers: [Placements] })
  class ExecutorModule {}

  const app = await NestFactory.createMicroservice<MicroserviceOptions>(ExecutorModule, {
    transport: Transport.NATS,
    options: natsTransportOptions({ url: natsUrl(), name: 'spec', queue: 'executors' }),
    logger: false,
  });
  await app.listen();
  await app.unwrap<{ flush(): Promise<void> }>().flush(); // NATS knows the subscription from here on
  return app;
}

/** Refuses so often before it is well. */
function sick(refusals: number) {
  let asked = 0;
  const answer = () => {
    asked += 1;
    if (asked <= refusals) throw new RpcException('Install bubblewrap.');
    return 'exe_well';
  };
  return { answer, timesAsked: () => asked };
}

describe('SandboxPlacement', () => {
  const kept: [ThreadId, string][] = [];
  const sandboxes = {
    keep: (id: ThreadId, executorId: string) => {
      kept.push([id, executorId]);
      return Promise.resolve('exe_kept');
    },
  };
  const mover = {
    isLost: (executorId: string) => executorId === 'exe_lost',
    readHost: (id: ThreadId) => Promise.resolve(id === thread ? 'exe_next' : undefined),
  };
  const executors: INestMicroservice[] = [];
  let client: ClientProxy;
  let placement: SandboxPlacement;

  const start = async (answer: () => string) => executors.push(await executor(answer));

  beforeEach(() => {
    const options = natsTransportOptions({ url: natsUrl(), name: 'spec' });
    client = ClientProxyFactory.create({ transport: Transport.NATS, options });
    placement = new SandboxPlacement({
      ...{ sandboxes, mover, openExecutors: { draw: () => undefined } },
      executors: { send: (pattern: string, data: unknown) => client.send(`${namespace}.${pattern}`, data) },
    });
    kept.length = 0;
  });
  afterEach(async () => {
    await client.close();
    await Promise.all(executors.splice(0).map((app) => app.close()));
  });

  it('takes an executor that announces free capacity, without a request', async () => {
    const { answer, timesAsked } = sick(0);
    await start(answer);
    const placed = new SandboxPlacement({
      ...{ sandboxes, mover, executors: client },
      openExecutors: { draw: () => 'exe_open' },
    });

    expect(await placed.of(thread)).toBe('exe_kept');

    expect(kept).toEqual([[thread, 'exe_open']]);
    expect(timesAsked()).toBe(0);
  });

  it('is that of the claim, unless that executor is lost', async () => {
    const placed = (executorId: string | null, workspaceId = thread) => placement.ofRun({ executorId, workspaceId });
    await start(() => 'exe_1');

    expect(await placed('exe_1')).toBe('exe_1');
    expect(await placed('exe_lost')).toBe('exe_next');
    expect(await placed(null)).toBe('exe_kept');
    expect(kept).toEqual([[thread, 'exe_1']]);
  });

  it('offers what an executor says that is asked, and answers with what is kept', async () => {
    await start(() => 'exe_1');

    expect(await placement.of(thread)).toBe('exe_kept');
    expect(kept).toEqual([[thread, 'exe_1']]);
  });

  it('asks again where one of the executors has no sandbox, since another one may answer then', async () => {
    await start(sick(4).answer);

    await placement.of(thread);

    expect(kept).toEqual([[thread, 'exe_well']]);
  });

  it('takes a refusal as final that it hears again and again', async () => {
    const { answer, timesAsked } = sick(Infinity);
    await start(answer);

    const refused: unknown = await placement.of(thread).catch((error: unknown) => error);

    expect(refused).toBeInstanceOf(TerminalError);
    expect(refused).toMatchObject({ code: 'sandbox_unavailable', message: 'Install bubblewrap.' });
    expect(timesAsked()).toBe(5);
    expect(kept).toEqual([]);
  });

  it('can be asked again while no executor answers, and finds the one that comes back', async () => {
    const unanswered: unknown = await placement.of(thread).catch((error: unknown) => error);
    expect(unanswered).toBeInstanceOf(Error);
    expect(unanswered).not.toBeInstanceOf(TerminalError);

    await start(() => 'exe_back');

    await placement.of(thread);
    expect(kept).toEqual([[thread, 'exe_back']]);
  });
});
