import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rondo-audit-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const packages = {
  '': { name: 'rondo', version: '0.1.0' },
  'apps/gateway': { name: '@rondo/gateway', version: '0.1.0' },
  'node_modules/@rondo/gateway': { resolved: 'apps/gateway', link: true },
  'node_modules/left': { version: '1.4.0' },
  'node_modules/@scope/tool': { version: '2.0.0-rc.1', dev: true },
  'node_modules/@scope/tool/node_modules/left': { version: '2.1.0' },
  'node_modules/alias': { name: 'right', version: '3.0.0' },
};

function write(name: string, content: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

function audit(path: string) {
  const lock = write('package-lock.json', { lockfileVersion: 3, packages });
  const program = join(repoRoot, 'deploy/audit-offline.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, path, '--lock', lock], { encoding: 'utf8' });
  return { status, findings: stdout.trim().split('\n').slice(0, -1), stderr };
}

const affecting = (name: string, events: readonly object[], more: object = {}) => ({
  id: 'GHSA-1',
  database_specific: { severity: 'HIGH' },
  affected: [{ package: { ecosystem: 'npm', name }, ranges: [{ type: 'SEMVER', events }] }],
  ...more,
});
const versionsFound = (content: unknown) =>
  audit(write('osv.json', content)).findings.map((line) => line.split('  ')[0]);

describe('npm run audit:offline', () => {
  it('prints package, version, id, severity and fix of what is affected, and ends with 1', () => {
    expect(audit(write('osv.json', affecting('left', [{ introduced: '0' }, { fixed: '1.5.0' }])))).toMatchObject({
      status: 1,
      findings: ['left@1.4.0  GHSA-1  HIGH  fixed in 1.5.0'],
    });
  });

  it('ends with 0 where nothing is affected, and with 2 where there is nothing to compare with', () => {
    expect(audit(write('osv.json', affecting('other', [{ introduced: '0' }])))).toMatchObject({
      status: 0,
      findings: [],
    });
    expect(audit(join(folder, 'absent.json'))).toMatchObject({ status: 2, stderr: expect.stringContaining('ENOENT') });
    expect(audit(write('osv.json', {}))).toMatchObject({ status: 2, stderr: expect.stringContaining('holds no') });
  });

  it.each<[string, object[], string[]]>([
    ['all from the beginning', [{ introduced: '0' }], ['left@1.4.0', 'left@2.1.0']],
    ['up to a fix', [{ introduced: '0' }, { fixed: '1.4.0' }], []],
    ['up to the last affected', [{ introduced: '0' }, { last_affected: '1.4.0' }], ['left@1.4.0']],
    ['from a version on', [{ introduced: '2.1.0' }], ['left@2.1.0']],
    [
      'of two intervals, in any order',
      [{ fixed: '1.4.1' }, { introduced: '2.0.0' }, { introduced: '1.4.0' }, { fixed: '2.2.0' }],
      ['left@1.4.0', 'left@2.1.0'],
    ],
    [
      'between two intervals',
      [{ introduced: '0' }, { fixed: '1.0.0' }, { introduced: '1.5.0' }, { fixed: '2.0.0' }],
      [],
    ],
  ])('reads a range of versions: %s', (_, events, found) => {
    expect(versionsFound(affecting('left', events))).toEqual(found);
  });

  it('knows scoped names, versions before a release, aliases and versions that are listed', () => {
    const rc = affecting('@scope/tool', [{ introduced: '2.0.0-beta' }, { fixed: '2.0.0' }]);
    const listed = { id: 'OSV-2', affected: [{ package: { ecosystem: 'npm', name: 'right' }, versions: ['3.0.0'] }] };

    expect(audit(write('osv.json', [rc, listed])).findings).toEqual([
      '@scope/tool@2.0.0-rc.1  GHSA-1  HIGH  fixed in 2.0.0  only for development',
      'right@3.0.0  OSV-2  unknown severity  no fix is known',
    ]);
  });

  it('reads a folder, and leaves out what was withdrawn or is of another ecosystem', () => {
    const exported = join(folder, 'export/npm');
    mkdirSync(exported, { recursive: true });
    const all = [{ introduced: '0' }];
    const elsewhere = { package: { ecosystem: 'PyPI', name: 'left' }, ranges: [{ type: 'ECOSYSTEM', events: all }] };
    write('export/npm/a.json', affecting('right', all, { severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N' }] }));
    write('export/npm/b.json', affecting('left', all, { withdrawn: '2026-01-01T00:00:00Z' }));
    write('export/npm/c.json', { id: 'PYSEC-1', affected: [elsewhere] });

    expect(audit(join(folder, 'export'))).toMatchObject({
      status: 1,
      findings: ['right@3.0.0  GHSA-1  HIGH  no fix is known'],
    });
  });
});
