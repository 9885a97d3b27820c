import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkDisk, checkIsolation, checkKernel, checkNode } from './machine';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'doctor-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const write = (path: string, text: string): string => {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};

describe('the checks of a machine', () => {
  it.each([
    ['20.19.0', 'ok'],
    ['22.1.0', 'ok'],
    ['20.18.3', 'broken'],
    ['18.20.0', 'broken'],
  ])('know that Node %s is %s', (version, status) => {
    expect(checkNode(version)).toMatchObject({ status });
  });

  it('say how much of the disk is free', async () => {
    expect((await checkDisk(folder)).found).toMatch(/GiB free in /);
  });

  it('accept a kernel that allows user namespaces, and one that does not have the settings', () => {
    expect(checkKernel({ folder, isRoot: false })).toMatchObject({ status: 'ok' });
    write('user/max_user_namespaces', '10000\n');
    write('kernel/apparmor_restrict_unprivileged_userns', '0\n');
    expect(checkKernel({ folder, isRoot: false })).toMatchObject({ status: 'ok' });
  });

  it.each([
    ['kernel/unprivileged_userns_clone', '0'],
    ['kernel/apparmor_restrict_unprivileged_userns', '1'],
    ['user/max_user_namespaces', '0'],
  ])('name %s = %s, and the command that changes it', (name, value) => {
    write(name, `${value}\n`);
    const finding = checkKernel({ folder, isRoot: false });
    expect(finding).toMatchObject({ status: 'broken', found: `refused by ${name.replace('/', '.')}` });
    expect(finding.advice).toContain('sysctl -w');
  });

  it('know that root needs only namespaces as such', () => {
    write('kernel/apparmor_restrict_unprivileged_userns', '1\n');
    expect(checkKernel({ folder, isRoot: true })).toMatchObject({ status: 'ok' });
    write('user/max_user_namespaces', '0\n');
    expect(checkKernel({ folder, isRoot: true })).toMatchObject({ status: 'broken' });
  });

  it('repeat what the tool-executor said about isolation', () => {
    expect(checkIsolation(join(folder, 'none.log'))).toMatchObject({ status: 'skipped' });
    const line = JSON.stringify({
      msg: 'sandboxes unavailable',
      reason: 'bwrap: no permissions',
      advice: 'Allow\n  it.',
    });
    expect(checkIsolation(write('a.log', `{}\n${line}\n`))).toEqual({
      name: 'isolation',
      status: 'broken',
      found: 'bwrap: no permissions',
      advice: 'Allow it.',
    });
    expect(checkIsolation(write('b.log', '{}\n'))).toMatchObject({ status: 'ok' });
  });

  it.each(['sandboxes available', 'sandboxes available WITHOUT LIMITS of memory and processes'])(
    'believe the tool-executor that says after a repair: %s',
    (msg) => {
      const [broken, mended] = ['sandboxes unavailable', msg].map((one) => JSON.stringify({ usable: true, msg: one }));
      expect(checkIsolation(write('a.log', `${broken}\n${mended}\n`))).toMatchObject({ status: 'ok' });
      expect(checkIsolation(write('b.log', `${mended}\n${broken}\n`))).toMatchObject({ status: 'broken' });
    },
  );
});
