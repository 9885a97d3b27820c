import { TermsInUse } from '../egress/terms-in-use';
import { run } from '../testing/run-command';
import { newThreadId } from '../testing/sandbox-provider-fixture';
import { DockerFixture } from './testing/docker-fixture';

const python = 'docker.io/library/python:3.12';

describe('the image that a run names, in Docker', () => {
  let fixture: DockerFixture;
  beforeEach(async () => {
    fixture = await DockerFixture.open({ images: ['python', 'ghcr.io/you/*'] });
    await fixture.provider.probe();
    fixture.engine.created.length = 0;
    fixture.engine.registry.set(python, {});
  });
  afterEach(() => fixture.close());

  const hold = async (thread: string, terms?: object) => (await new TermsInUse(fixture.provider).hold(thread, terms))();
  const from = () => fixture.engine.created.map(({ Image }) => Image);

  it('is pulled and tried once, and the files of another sandbox are in it', async () => {
    const [thread, other] = [newThreadId(), newThreadId()];
    await run(await fixture.provider.get(thread), 'echo kept > kept.txt');
    await Promise.all([hold(thread, { image: 'python:3.12' }), hold(other, { image: 'python:3.12' })]);

    expect(await run(await fixture.provider.get(thread), 'cat kept.txt')).toMatchObject({ output: 'kept\n' });
    expect(fixture.engine.pulled).toEqual([python]);
    const [own, trial, sandbox] = from();
    expect(own).toBe('node:24-bookworm');
    expect(trial).toBe(sandbox);
    await hold(thread);
    expect(await run(await fixture.provider.get(thread), 'cat kept.txt')).toMatchObject({ output: 'kept\n' });
    expect(from().at(-1)).toBe(own);
  });

  it('is replaced by that of the next run, and by the own one where that names it', async () => {
    const thread = newThreadId();
    const terms = new TermsInUse(fixture.provider);
    const end = await terms.hold(thread, { image: 'python:3.12' });
    await expect(terms.hold(thread, { image: 'ghcr.io/you/image' })).rejects.toThrow('another run uses the sandbox');
    await run(await fixture.provider.get(thread), 'true');
    end();
    (await terms.hold(thread, { image: 'node:24-bookworm' }))();
    await run(await fixture.provider.get(thread), 'true');

    expect(from().at(-1)).toBe('node:24-bookworm');
    (await terms.hold(thread))();
    await run(await fixture.provider.get(thread), 'true');
    expect(from().at(-1)).toBe('node:24-bookworm');
  });

  it('ends the run with what the engine said of the pull', async () => {
    fixture.engine.registry.set(`ghcr.io/you/image@sha256:${'a'.repeat(64)}`, { error: 'manifest unknown' });

    await expect(hold(newThreadId(), { image: `ghcr.io/you/image@sha256:${'a'.repeat(64)}` })).rejects.toMatchObject({
      ...{ code: 'failed', message: expect.stringContaining('manifest unknown') },
    });
    await expect(hold(newThreadId(), { image: 'ghcr.io/you/none:1' })).rejects.toMatchObject({
      ...{ code: 'failed', message: expect.stringContaining('pull access denied for ghcr.io/you/none') },
    });
  });

  it('is not used where it lacks what serves a sandbox', async () => {
    fixture.engine.faults.push({ route: 'POST /containers/:id/start', status: 400 });
    await expect(hold(newThreadId(), { image: 'python:3.12' })).rejects.toMatchObject({ code: 'failed' });
    expect(fixture.engine.running).toEqual([]);

    await hold(newThreadId(), { image: 'python:3.12' });
    expect(fixture.engine.running).toEqual([]);
  });
});
