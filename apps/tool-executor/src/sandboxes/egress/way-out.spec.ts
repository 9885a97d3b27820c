import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxSettings } from '../provider/sandbox-settings';
import { EgressGates, type EgressSecrets } from './egress-gate';
import { openWayOut } from './way-out';

it('a way out whose second socket cannot be made leaves none', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'way-out-spec-'));
  const { egress: rules } = sandboxSettings.parse({ root: directory });
  const nowhere = { resolve: async () => [], resolveInternal: async () => [], isAllowed: () => false };
  const egress = new EgressGates({ ...rules, ...nowhere }, {} as EgressSecrets); // nothing connects
  const path = join(directory, '1');
  await mkdir(`${path}-secrets.sock`);

  await expect(openWayOut(egress, { threadId: () => 'thr_1', path, uid: undefined })).rejects.toThrow();

  expect(await readdir(directory)).toEqual(['1-secrets.sock']);
  await rm(directory, { recursive: true });
});

it('a way out whose sockets would have too long a path is refused, with what to do', async () => {
  const { egress: rules } = sandboxSettings.parse({ root: '/nowhere' });
  const nothing = { resolve: async () => [], resolveInternal: async () => [], isAllowed: () => false };
  const open = (length: number) => {
    const path = join(`/${'d'.repeat(length - 1)}`, '1');
    return openWayOut(new EgressGates({ ...rules, ...nothing }), { threadId: () => 'thr_1', path, uid: undefined });
  };

  await expect(open(100)).rejects.toThrow(
    / is 17 bytes too long for sockets\. Set TMPDIR of the executor to a shorter/,
  );
  await expect(open(83)).rejects.toMatchObject({ syscall: 'listen' }); // there is no such folder
});
