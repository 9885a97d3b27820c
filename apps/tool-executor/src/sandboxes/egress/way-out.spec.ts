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
