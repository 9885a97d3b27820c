import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox } from '../provider/sandbox';
import { run } from '../testing/run-command';
import { SandboxFixture } from './testing/sandbox-fixture';
import { isShown } from './host-programs';

const secret = `secret-${randomUUID()}`;
const token = `//registry.npmjs.org/:_authToken=${secret}`;
const isRoot = process.getuid?.() === 0;
const places = ['/usr/local/etc', '/usr/local/src', '/usr/local/own', '/usr/etc', '/usr/src'];

describe('attack: sandbox processes and files', () => {
  let fixture: SandboxFixture;
  let sandbox: Sandbox;
  const planted: string[] = [];

  beforeAll(async () => {
    for (const place of isRoot ? places : []) {
      const made = await mkdir(place, { recursive: true });
      const file = join(place, `npmrc-${randomUUID()}`);
      await writeFile(file, token, { mode: 0o644 });
      planted.push(made ?? file);
    }
    fixture = await SandboxFixture.open();
    sandbox = await fixture.sandbox();
  });
  afterAll(async () => {
    for (const path of planted) await rm(path, { recursive: true });
    await fixture.close();
  });

  const whereRootIs = isRoot ? it : it.skip;
  whereRootIs('a token in a configuration of the host beside its programs', async () => {
    await expect(run(sandbox, 'cat /usr/local/bin/* /usr/bin/env >/dev/null')).resolves.toMatchObject({
      ending: 'exit',
    });

    const found = await run(
      sandbox,
      `grep -rlsF ${secret} /usr/local/etc /usr/local/src /usr/local/own /usr/etc /usr/src`,
    );

    expect(found.output).toBe('');
    await expect(run(sandbox, 'npm config get @x:registry; ls /usr/local/etc')).resolves.not.toMatchObject({
      output: expect.stringContaining('npmrc'),
    });
  });

  it('a disk in memory in the place of what is hidden', async () => {
    for (const place of ['/usr/local', '/usr/etc', '/usr/src'].filter((path) => existsSync(path))) {
      await expect(run(sandbox, `echo x > ${place}/x`)).resolves.toMatchObject({ exitCode: 1 });
    }
  });
});

describe('a program of the host', () => {
  it.each([
    ['/usr/bin/node', true],
    ['/usr/local/bin/node', true],
    ['/usr/local/go/bin/go', true],
    ['/usr/local/node-v20/bin/node', false],
    ['/usr/local/etc/npmrc', false],
    ['/usr/src/node', false],
    ['/usr/etc/x', false],
    ['/opt/node/bin/node', false],
    [join(tmpdir(), 'node'), false],
  ])('%s is shown by its own path: %s', (path, shown) => {
    expect(isShown(path)).toBe(shown);
  });
});
