import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesInMemory } from './workspace-usage';

describe('filesInMemory', () => {
  it('counts in-memory file systems only, never the disk of an engine', async () => {
    const disk = await mkdtemp(join(tmpdir(), 'usage-spec-'));
    await writeFile(join(disk, 'on-disk'), '');
    const view = [
      '--ro-bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--tmpfs',
      '/dev/shm',
      '--tmpfs',
      '/run',
      '--bind',
      disk,
      '/tmp',
    ];
    const script = 'touch /run/a /run/b /dev/shm/c; echo $$; read _';
    const agent = spawn(process.env['BWRAP_PATH'] ?? 'bwrap', [...view, 'sh', '-c', script]);
    const [pid] = (await once(agent.stdout, 'data')) as [Buffer]; // what the script prints

    const [roots, files] = [2, 3];
    await expect(filesInMemory(Number(pid.toString()))).resolves.toBe(roots + files);

    agent.stdin.end();
    await once(agent, 'close');
    await rm(disk, { recursive: true });
  });
});
