import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type Server, createServer, request as askEngine } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newUlid } from '@rondo/platform';
import { createZip } from '../parsing/testing/zip';
import { TermsInUse } from '../sandboxes';
import { DockerFixture, engineUnderTest } from '../sandboxes/docker/testing/docker-fixture';
import { run } from '../sandboxes/testing/run-command';

const { docker } = engineUnderTest;
const registry = 'https://registry.npmjs.org';
const debian = ['deb.debian.org', 'security.debian.org'];

/** A package of Python as pip finds it in an index. */
const wheel = createZip({
  'greeting.py': Buffer.from('text = "hello from a wheel"\n'),
  'greeting-1.0.dist-info/METADATA': Buffer.from('Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n'),
  'greeting-1.0.dist-info/WHEEL': Buffer.from('Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
  'greeting-1.0.dist-info/RECORD': Buffer.from('greeting.py,,\n'),
});
const wheelFile = 'greeting-1.0-py3-none-any.whl';

/** With an engine that `npm run engines` starts: its limits, its images, and what package managers do in its containers. */
(docker ? describe : describe.skip)('the environment of a run in a real engine', () => {
  let fixture: DockerFixture;
  let index: Server;

  beforeAll(async () => {
    index = createServer(({ url = '/' }, response) => {
      if (url.startsWith('/simple/'))
        response.setHeader('content-type', 'text/html').end(`<a href="/${wheelFile}">${wheelFile}</a>`);
      else if (url === `/${wheelFile}`) response.end(wheel);
      else void passOn(url).then(({ status, body }) => response.writeHead(status).end(body));
    }).listen(0, '127.0.0.1');
    await once(index, 'listening');
    const host = `127.0.0.1:${(index.address() as AddressInfo).port}`; // it listens on TCP
    await askToTag('localhost/of-the-spec');
    const packages = {
      kinds: ['apt' as const, 'pip' as const, 'npm' as const],
      ...{ hosts: ['127.0.0.1', ...debian], pipIndex: `http://${host}/simple`, npmRegistry: `http://${host}` },
    };
    fixture = await DockerFixture.open(
      {
        ...engineUnderTest,
        ...{ images: ['localhost/of-the-spec'], egress: { internalHosts: [host] } },
        packages,
      },
      {
        isAllowed: () => true,
        resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
      },
    );
    expect(await fixture.provider.probe()).toMatchObject({ usable: true });
  });
  afterAll(async () => {
    await fixture.close();
    index.close();
  });

  const within = async (terms: object, command: string) => {
    const thread = `thr_${newUlid()}`;
    const end = await new TermsInUse(fixture.provider).hold(thread, terms);
    const { output } = await run(await fixture.provider.get(thread), command);
    end();
    return output;
  };

  it('has the size that it names', async () => {
    const { size } = (await fixture.provider.probe()).capabilities;
    expect(size).toHaveProperty('memory_mb');
    const read = 'cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2> /dev/null';

    expect(await within({ size: { memory_mb: 300, cpus: 0.5 } }, read)).toBe(`${300 * 1024 ** 2}\n`);
  });

  it('is made from an image that the engine has', async () => {
    expect(await within({ image: 'localhost/of-the-spec:1' }, 'id -u; node --version')).toMatch(/^[1-9]\d*\nv2\d/);
  });

  it('has packages of apt, pip and npm, which are installed once', async () => {
    const packages = { apt: ['hello=2.10-3'], pip: ['greeting==1.0'], npm: ['semver@7.6.3'] };
    const command = 'hello; python3 -c "import greeting; print(greeting.text)"; semver 1.2.3 -i minor; touch /usr/x';
    const startedAt = performance.now();

    const output = await within({ packages }, command);
    const tookMs = performance.now() - startedAt;
    expect(output).toMatch(/^Hello, world!\nhello from a wheel\n1\.3\.0\n.*Read-only file system/);

    const againAt = performance.now();
    expect(await within({ packages, image: 'localhost/of-the-spec:1' }, 'hello')).toBe('Hello, world!\n');
    expect(performance.now() - againAt).toBeLessThan(tookMs / 2);
  }, 600_000);

  it('ends with what the package manager said', async () => {
    await expect(within({ packages: { npm: ['semver@0.0.999'] } }, 'true')).rejects.toThrow(
      /No matching version|ETARGET/,
    );
    await expect(within({ packages: { pip: ['greeting==9.9'] } }, 'true')).rejects.toThrow('No matching distribution');
  }, 300_000);
});

/** What a registry says, for containers that do not know the authorities of this machine. */
async function passOn(path: string): Promise<{ readonly status: number; readonly body: Buffer }> {
  const answer = await fetch(`${registry}${path}`);
  return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
}

async function askToTag(name: string): Promise<void> {
  const { socketPath, image } = docker ?? {};
  const path = `/images/${image}/tag?repo=${encodeURIComponent(name)}&tag=1`;
  const [answer] = (await once(askEngine({ socketPath, path, method: 'POST' }).end(), 'response')) as [
    { statusCode?: number; resume(): void },
  ];
  answer.resume();
  expect(answer.statusCode).toBe(201);
}
