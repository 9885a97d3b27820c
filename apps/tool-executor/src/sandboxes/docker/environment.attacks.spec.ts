import { TermsInUse } from '../egress/terms-in-use';
import { newThreadId } from '../testing/sandbox-provider-fixture';
import { DockerFixture } from './testing/docker-fixture';

const packages = { pip: ['requests==2.32.3'] };

describe('attack: image and packages of a run in Docker', () => {
  let fixture: DockerFixture;
  beforeEach(async () => {
    fixture = await DockerFixture.open({
      images: ['python', 'ghcr.io/you/*', 'node:24'],
      packages: { kinds: ['pip', 'npm'], hosts: ['registry.npmjs.org'] },
    });
    await fixture.provider.probe();
  });
  afterEach(() => fixture.close());

  const hold = async (terms: object) => (await new TermsInUse(fixture.provider).hold(newThreadId(), terms))();
  const installations = () => fixture.engine.created.filter(({ User }) => User === '0:0');

  it.each([
    ...['node:22', 'evil.example/library/python:3.12', 'ghcr.io/you-too/image', 'ghcr.io/you'],
    ...['127.0.0.1:5000/python', 'localhost/python', '169.254.169.254/python', 'docker.io.evil.example/library/python'],
    ...[`node:24@sha256:${'0'.repeat(64)}`, `node@sha256:${'0'.repeat(64)}`, 'localhost/rondo-packages:of-another-run'],
  ])('an image that the operator does not name: %s', async (image) => {
    await expect(hold({ image })).rejects.toMatchObject({
      ...{ code: 'unsupported', message: expect.stringMatching(/`image`: .*SANDBOX_IMAGES/) },
    });
    expect(fixture.engine.pulled).toEqual([]);
  });

  it.each([
    ['memory_mb', 10_485_760],
    ['cpus', 1_000],
    ['disk_mb', 10_485_760],
  ])('a size beyond what the deployment gives a sandbox: %s', async (field, asked) => {
    await expect(hold({ size: { [field]: asked } })).rejects.toMatchObject({
      ...{ code: 'unsupported', message: expect.stringContaining(`\`size.${field}\`: must be at most`) },
    });
  });

  it('a script of a package that asks for the address of cloud metadata', async () => {
    fixture.engine.installation =
      'curl -sS -m 5 --unix-socket /rondo/egress.sock --request-target http://169.254.169.254/latest http://x/; exit 1';

    await expect(hold({ packages })).rejects.toThrow('not among the hosts');
  });

  it('a script of a package that goes round the proxy, to another address or to the engine', async () => {
    fixture.engine.installation =
      'curl -sS -m 5 http://1.1.1.1/ || echo closed; ls /var/run/docker.sock /run/docker.sock; exit 1';

    await expect(hold({ packages })).rejects.toThrow(/closed[^]*No such file/);
  });

  it('a script of a package that never ends', async () => {
    const other = await DockerFixture.open({ packages: { kinds: ['pip'], installMs: 300 } });
    other.engine.installation = 'echo begun; sleep 600';

    const held = new TermsInUse(other.provider).hold(newThreadId(), { packages: { pip: packages.pip } });
    await expect(held).rejects.toThrow(/did not end within 0 s\.\s+begun/);
    expect(other.engine.running).toEqual([]);
    await other.close();
  });

  it('a script of a package that fills the disk', async () => {
    fixture.engine.installation = 'echo begun; sleep 600';
    fixture.engine.writtenBytes = 5_000 * 1024 ** 2;

    await expect(hold({ packages })).rejects.toThrow('they take more than 4096 MiB');
    expect(fixture.engine.running).toEqual([]);
  });

  it('packages of a kind that the operator does not name', async () => {
    await expect(hold({ packages: { apt: ['curl=1'] } })).rejects.toThrow(/`packages.apt`: .*SANDBOX_PACKAGES/);
    expect(installations()).toEqual([]);
  });

  it('a script of a package that asks for a host which is not one of the registries', async () => {
    fixture.engine.installation =
      'curl -sS -m 5 --unix-socket /rondo/egress.sock --request-target http://evil.example/ http://evil.example/; exit 1';

    await expect(hold({ packages })).rejects.toThrow('not among the hosts');
  });
});
