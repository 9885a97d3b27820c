import { once } from 'node:events';
import { type Server, createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RunWait } from '@rondo/contract';
import { type RondoClient, RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { EngineClient } from '../../tool-executor/src/sandboxes/docker/engine-client';
import { EngineServer } from '../../tool-executor/src/sandboxes/docker/testing/engine-server';
import { expectWholeLog } from './log-expectations';

const { TEST_DOCKER_SOCKET: realSocket, TEST_DOCKER_IMAGE: realImage = 'node:24-bookworm' } = process.env;
const image = 'localhost/of-the-spec:1';
const install = `spec-${process.pid}`;
/** A package manager reads the whole list of Debian's packages. */
const slowMs = 300_000;
const upstream = 'https://registry.npmjs.org';
const debian = ['deb.debian.org', 'security.debian.org'];

/**
 * Image and packages of an agent, from the API to the containers of an engine: of a real one where TEST_DOCKER_SOCKET names it. Else it
 * is a server of our own whose containers are real processes, and what npm would ask of the registry is asked by a program of the spec.
 */
describe('the image and the packages of an agent in containers', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let fake: EngineServer | undefined;
  let engine: EngineClient;
  let registry: Server;
  /** How often the registry was asked for the package. */
  let asked = 0;
  /** An answer of the registry waits until it resolves. */
  let hold = (): Promise<void> => Promise.resolve();

  beforeAll(async () => {
    registry = createServer(({ url = '/' }, response) => {
      void (async () => {
        if (url === '/semver') asked += 1;
        await hold();
        if (fake) return response.end('installed');
        const answer = await fetch(`${upstream}${url}`);
        return response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
      })();
    }).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    const host = `127.0.0.1:${(registry.address() as AddressInfo).port}`; // it listens on TCP
    if (realSocket === undefined) {
      fake = await EngineServer.start();
      fake.images.add(image);
      fake.installation = `curl -sSf -m 60 --unix-socket /rondo/egress.sock --request-target http://${host}/semver http://${host}/semver`;
    }
    const socket = realSocket ?? fake?.socketPath ?? '';
    engine = new EngineClient(socket);
    if (!fake) await tagImage(socket);
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'gateway'],
      settings: {
        'tool-executor': {
          ...{ SANDBOX_PROVIDER: 'docker', SANDBOX_INSTALL: install, DOCKER_SOCKET: socket, DOCKER_IMAGE: realImage },
          ...{ SANDBOX_IMAGES: 'localhost/of-the-spec', SANDBOX_PACKAGES: 'apt,npm' },
          ...{ SANDBOX_NPM_REGISTRY: `http://${host}`, SANDBOX_PACKAGE_HOSTS: ['127.0.0.1', ...debian].join() },
          SANDBOX_INTERNAL_HOSTS: [host, ...debian.map((name) => `${name}:80`)].join(), // a mirror may have a private address
        },
      },
    });
    client = rondo.client();
  });
  afterAll(async () => {
    expect(await rondo.violations()).toEqual([]);
    await rondo.services.stop();
    expect(await sandboxes()).toEqual([]);
    for (const { id } of fake ? [] : await engine.listImages(`rondo.packages=${install}`)) await engine.removeImage(id);
    await rondo.stop();
    await fake?.close();
    registry.closeAllConnections();
    registry.close();
  });

  const sandboxes = () => engine.list(`rondo.install=${install}`);
  const layers = async () => (await engine.listImages(`rondo.packages=${install}`)).length;
  const beginWith = async (name: string, packages: object, use: string) => {
    const { id } = await client.json<{ id: string }>('PUT', `/agents/by-name/${name}`, {
      definition: { environment: { image, packages, size: { memory_mb: 256 } } },
    });
    return client.createRun({ ...scriptInput(name, [{ calls: [command(use)] }, { text: 'Done.' }]), agent_id: id });
  };
  const begin = (version: string) =>
    beginWith(version, { npm: [`semver@${version}`] }, fake ? 'echo 1.3.0' : 'semver 1.2.3 -i minor');

  it.each([
    ['tool-executor', '7.6.3'],
    ['agent-worker', '7.6.2'],
  ])('are there after kill -9 of the %s while packages are installed, which is done once', async (killed, version) => {
    const [askedBefore, layersBefore] = [asked, await layers()];
    let [reached, release] = [(): void => undefined, (): void => undefined];
    const held = new Promise<void>((resolve) => (reached = resolve));
    const released = new Promise<void>((resolve) => (release = resolve));
    hold = () => {
      reached();
      return released;
    };

    const run = await begin(version);
    await Promise.race([
      held,
      client.waitForRun(run.id).then(({ error }) => Promise.reject(new Error(error?.message))),
    ]);
    const { cause, sentence } = await client.json<RunWait>('GET', `/runs/${run.id}/why`);
    expect([cause, sentence]).toEqual([
      'workspace',
      `Prepares the workspace: the image ${image}, the packages semver@${version}. Now the packages are installed.`,
    ]);
    await rondo.services.get(killed).kill();
    hold = () => Promise.resolve();
    release();
    await rondo.services.get(killed).start();

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    expect(facts.filter(({ type }) => type.startsWith('workspace.')).map(({ type }) => type)).toEqual([
      'workspace.preparing',
      'workspace.prepared',
    ]);
    expect(facts.find(({ type }) => type === 'workspace.preparing')?.data).toMatchObject({
      image,
      packages: { npm: [`semver@${version}`] },
    });
    expect(await client.toolOutputs(run.id)).toEqual([expect.stringContaining('1.3.0')]);
    expect(asked - askedBefore).toBe(killed === 'agent-worker' ? 1 : 2); // what an executor had begun dies with it
    expect(await layers()).toBe(layersBefore + 1);
    expect(await engine.list('rondo.installation=true')).toEqual([]);
    expect(await sandboxes()).not.toEqual([]);

    const again = await begin(version);
    expect(await client.waitForRun(again.id)).toMatchObject({ status: 'completed' });
    expect([asked - askedBefore, await layers()]).toEqual([killed === 'agent-worker' ? 1 : 2, layersBefore + 1]);
  });

  const onRealEngine = realSocket === undefined ? it.skip : it;

  onRealEngine(
    'are those of Debian and of npm, within the size that the agent names',
    async () => {
      const readMemory =
        'cat /sys/fs/cgroup/memory.max 2> /dev/null || cat /sys/fs/cgroup/memory/memory.limit_in_bytes';
      const packages = { apt: ['hello=2.10-3'], npm: ['semver@7.6.1'] };

      const run = await beginWith('of-both', packages, `hello; semver 1.2.3 -i minor; ${readMemory}`);

      expect(await client.waitForRun(run.id, slowMs)).toMatchObject({ status: 'completed', error: null });
      expect(await client.toolOutputs(run.id)).toEqual([`Hello, world!\n1.3.0\n${256 * 1024 ** 2}\n`]);
    },
    slowMs,
  );

  onRealEngine(
    'end the run with what the package manager said, and nothing of them stays',
    async () => {
      const layersBefore = await layers();

      const run = await beginWith('not-there', { apt: ['hello=0.0.1'] }, 'true');

      expect(await client.waitForRun(run.id, slowMs)).toMatchObject({
        status: 'failed',
        error: { code: 'environment_failed', message: expect.stringMatching(/0\.0\.1.* was not found/) as string },
      });
      expect([await layers(), await engine.list('rondo.installation=true')]).toEqual([layersBefore, []]);
    },
    slowMs,
  );
});

async function tagImage(socketPath: string): Promise<void> {
  const path = `/images/${realImage}/tag?repo=localhost%2Fof-the-spec&tag=1`;
  const [answer] = (await once(ask({ socketPath, path, method: 'POST' }).end(), 'response')) as [
    { statusCode?: number; resume(): void },
  ];
  answer.resume();
  expect(answer.statusCode).toBe(201);
}
