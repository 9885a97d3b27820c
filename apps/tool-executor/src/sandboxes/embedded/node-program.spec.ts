import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeProgram } from './node-program';
import type { Sandbox } from '../provider/sandbox';
import { run } from '../testing/run-command';
import { SandboxFixture } from './testing/sandbox-fixture';

/** Node in a home directory, beside private files of its owner. */
async function privateHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'rondo-home-'));
  await mkdir(join(home, 'bin'));
  await copyFile(process.execPath, join(home, 'bin/node'));
  await chmod(join(home, 'bin/node'), 0o755);
  for (const [folder, name, text] of [
    ['.ssh', 'id_ed25519', 'SECRET'],
    ['bin', 'deploy', 'SECRET'],
    ['lib', 'notes', 'SECRET'],
    ['lib/node_modules/other', 'index.js', 'SECRET'],
    ['lib/node_modules/npm/bin', 'npm-cli.js', '#!/usr/bin/env node\nconsole.log("npm", process.execPath)'],
  ] as const) {
    await mkdir(join(home, folder), { recursive: true, mode: 0o755 });
    await writeFile(join(home, folder, name), text, { mode: 0o755 });
  }
  return home;
}

describe('attack: sandbox processes and files', () => {
  describe.each([
    ['that anyone may enter', 0o755],
    ['that only its owner may enter', 0o700],
  ])('beside a Node that is installed in a folder %s', (_, mode) => {
    let home: string;
    let fixture: SandboxFixture;
    let sandbox: Sandbox;

    beforeAll(async () => {
      home = await privateHome();
      await chmod(home, mode);
      const replaced = jest.replaceProperty(process, 'execPath', join(home, 'bin/node'));
      fixture = await SandboxFixture.open();
      sandbox = await fixture.sandbox();
      await run(sandbox, 'true');
      replaced.restore();
    });
    afterAll(async () => {
      await fixture.close();
      await rm(home, { recursive: true, force: true });
    });

    it('read the keys and programs that lie in the same folder', async () => {
      const { output } = await run(sandbox, 'node -p process.execPath; npm; cd /opt && find . ! -type d | sort');

      expect(output.split('\n')).toEqual([
        '/opt/node/bin/node',
        'npm /opt/node/bin/node',
        ...['./node/bin/node', './node/bin/npm', './node/bin/npx', './node/lib/node_modules/npm/bin/npm-cli.js', ''],
      ]);
    });
  });
});

describe('nodeProgram', () => {
  it('mounts nothing when Node is in /usr, which every sandbox sees', () => {
    expect(nodeProgram('/usr/local/bin/node')).toEqual({ path: '/usr/local/bin/node', shown: [], links: [] });
  });

  it('mounts one file when there is no npm beside it', () => {
    expect(nodeProgram('/nowhere/at/all/bin/node')).toEqual({
      path: '/opt/node/bin/node',
      shown: [{ from: '/nowhere/at/all/bin/node', to: '/opt/node/bin/node' }],
      links: [],
    });
  });
});
