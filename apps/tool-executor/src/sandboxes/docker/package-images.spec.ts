import { TermsInUse } from '../egress/terms-in-use';
import { run } from '../testing/run-command';
import { newThreadId } from '../testing/sandbox-provider-fixture';
import { DockerFixture } from './testing/docker-fixture';

const packages = { pip: ['requests==2.32.3'], npm: ['@scope/tool@1.2.3'] };

describe('the packages that a run names, in Docker', () => {
  let fixture: DockerFixture;
  beforeEach(async () => {
    fixture = await DockerFixture.open({
      images: ['localhost/base'],
      packages: { kinds: ['pip', 'npm'], hosts: ['registry.npmjs.org'], installMs: 5_000, kept: 2 },
    });
    await fixture.provider.probe();
    fixture.engine.created.length = 0;
  });
  afterEach(() => fixture.close());

  const hold = async (terms: object, thread = newThreadId()) => {
    (await new TermsInUse(fixture.provider).hold(thread, terms))();
    return fixture.provider.get(thread);
  };
  const installations = () => fixture.engine.created.filter(({ User }) => User === '0:0');
  const layers = () => [...fixture.engine.images].filter((name) => name.startsWith('localhost/rondo-packages:'));

  it('are installed once for all who name the same, in whatever order, and while others wait', async () => {
    const turned = { npm: [...packages.npm], pip: [...packages.pip] };
    await Promise.all([hold({ packages }), hold({ packages: turned })]);
    await run(await hold({ packages }), 'true');

    expect(installations()).toHaveLength(1);
    expect(layers()).toHaveLength(1);
    const images = new Set(fixture.engine.created.map(({ Image }) => Image));
    expect(images.size).toBe(2);
    await hold({ packages: { npm: ['@scope/tool@1.2.4'] } });
    await hold({ packages: { npm: ['@scope/tool@1.2.5'] } });
    expect(layers()).toHaveLength(2);
  });

  it('are installed with the limits and the network of a sandbox, without a workspace, by programs and not by a shell', async () => {
    await hold({ packages });

    const [asked] = installations();
    expect(asked?.HostConfig).toMatchObject({
      ...{ NetworkMode: 'none', Privileged: false, CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges:true'] },
      ...{ Memory: 2_147_483_648, PidsLimit: 256, NanoCpus: 2_000_000_000 },
    });
    expect(asked?.HostConfig.Mounts.map(({ Target, ReadOnly }) => [Target, ReadOnly])).toEqual([
      ['/rondo/agent', true],
      ['/rondo/egress.sock', true],
    ]);
    const order = JSON.parse(asked?.Entrypoint.at(-1) ?? '') as { readonly steps: readonly string[][] };
    expect(order.steps).toContainEqual(['python3', '-m', 'pip', 'install', '--', 'requests==2.32.3']);
    expect(order.steps).toContainEqual(['npm', 'install', '--global', '--', '@scope/tool@1.2.3']);
  });

  it('are installed into the image that the run names, too', async () => {
    fixture.engine.images.add('localhost/base:1');

    await hold({ packages, image: 'localhost/base:1' });
    await hold({ packages });
    expect(new Set(installations().map(({ Image }) => Image)).size).toBe(2);
    expect(layers()).toHaveLength(2);
  });

  it('end the run with what failed, which is not kept', async () => {
    fixture.engine.installation = 'echo "No matching distribution"; exit 1';
    await expect(hold({ packages })).rejects.toMatchObject({
      ...{ code: 'failed', message: expect.stringContaining('cannot be installed: No matching distribution') },
    });
    expect([layers(), fixture.engine.running]).toEqual([[], []]);

    fixture.engine.installation = 'true';
    await hold({ packages });
    expect(layers()).toHaveLength(1);
  });
});
