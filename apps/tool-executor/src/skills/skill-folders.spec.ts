import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runId, sha256, skillId } from '@rondo/contract';
import type { SkillAnswer, SkillQuestion } from '@rondo/messaging';
import { SkillFolders } from './skill-folders';

const run = runId.parse('run_1');
const toHash = (text: string) => sha256.parse(createHash('sha256').update(text).digest('hex'));
const name = 'csv-totals';

/** A version with one program, in parts of four bytes. */
function createVersion(version: number, text: string) {
  const hash = toHash(text);
  const file = { path: 'scripts/run.sh', size: text.length, sha256: hash, is_executable: true };
  const pinned = { id: skillId.parse('skl_1'), name, version, sha256: toHash(`${hash} x scripts/run.sh\n`) };
  return { pinned, file, text };
}

const versions = [createVersion(1, 'echo one'), createVersion(2, 'echo second')] as const;
const [one, two] = versions;

describe('the folders of skills', () => {
  let home: string;
  let root: string;
  let asked: SkillQuestion[];
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'skills-'));
    root = join(home, 'skills');
    await mkdir(root);
    asked = [];
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const answer = (question: SkillQuestion): Promise<SkillAnswer | undefined> => {
    asked.push(question);
    const found = versions.find(({ pinned }) => pinned.version === question.version);
    if (!found) return Promise.resolve({ how: 'unknown' });
    if (question.ask === 'files') return Promise.resolve({ how: 'files', files: [found.file] });
    const part = found.text.slice(question.offset, question.offset + 4);
    return Promise.resolve({ how: 'part', base64: Buffer.from(part).toString('base64') });
  };
  const readScript = () => readFileSync(join(root, name, 'scripts/run.sh'), 'utf8');

  it('have the files of the version, are fetched once, also by the next process, and are replaced by another version', async () => {
    (await new SkillFolders({ ask: answer }).use(root, [one.pinned], run))();
    expect([readScript(), statSync(join(root, name, 'scripts/run.sh')).mode & 0o777]).toEqual([one.text, 0o755]);
    const { length } = asked;

    const next = new SkillFolders({ ask: answer });
    (await next.use(root, [one.pinned], run))();
    expect(asked).toHaveLength(length);
    (await next.use(root, [two.pinned], run))();
    expect(readScript()).toBe(two.text);
  });

  it('stay what they are while a call uses them', async () => {
    const folders = new SkillFolders({ ask: answer });
    const end = await folders.use(root, [one.pinned], run);

    await expect(folders.use(root, [two.pinned], run)).rejects.toThrow('another run in this workspace');
    expect(readScript()).toBe(one.text);
    end();
    await folders.use(root, [two.pinned], run);
    expect(readScript()).toBe(two.text);
  });

  it.each([
    ['files that are not those that the run began with', { ...one.pinned, sha256: two.pinned.sha256 }],
    ['a version that was deleted', { ...one.pinned, version: 3 }],
  ])('have nothing of %s', async (_, pinned) => {
    await expect(new SkillFolders({ ask: answer }).use(root, [pinned], run)).rejects.toThrow('is not there');
    expect(() => readScript()).toThrow('ENOENT');
  });

  it('have nothing while no worker answers', async () => {
    const folders = new SkillFolders({ ask: () => Promise.resolve(undefined) });
    await expect(folders.use(root, [one.pinned], run)).rejects.toThrow('no worker answers');
  });
});
