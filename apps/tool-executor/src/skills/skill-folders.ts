import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunId, SkillFile } from '@rondo/contract';
import { type DispatchedCall, type SkillAnswer, type SkillQuestion, hashSkillFiles } from '@rondo/messaging';
import { z } from 'zod';
import { KeyedMutex } from '@rondo/platform';
import { SandboxError } from '../sandboxes';

type NamedSkill = NonNullable<DispatchedCall['skills']>[number];

export interface SkillFoldersParts {
  /** Undefined where no worker answers. */
  readonly ask: (question: SkillQuestion) => Promise<SkillAnswer | undefined>;
}

/** Which version is in which folder, by the names of skills. Beside the folder that sandboxes see, so that they cannot change it. */
const record = z.record(z.string(), z.string());

/**
 * The skills of calls, as folders that sandboxes see read-only. A folder has all files of a version, whose hash was compared with
 * that in the settings of the run, or is not there. While a call uses a version, no other one takes its place.
 */
export class SkillFolders {
  private readonly turns = new KeyedMutex();
  /** By folder and name: the version that calls use now, and how many do. */
  private readonly used = new Map<string, { readonly sha256: string; calls: number }>();

  constructor(private readonly parts: SkillFoldersParts) {}

  /** Resolves to what ends the use. Rejects with SandboxError where one cannot be had, or another version of it is in use. */
  async use(root: string, skills: readonly NamedSkill[], run: RunId): Promise<() => void> {
    return this.turns.run(root, async () => {
      for (const { name, sha256, version } of skills) {
        const user = this.used.get(join(root, name));
        if (user && user.sha256 !== sha256)
          throw new SandboxError(
            'unavailable',
            `Not executed: another run in this workspace uses a version of the skill ${name} that is not version ${version}. Try again later.`,
          );
      }
      await this.place(root, skills, run);
      for (const { name, sha256 } of skills) {
        const place = join(root, name);
        const user = this.used.get(place) ?? { sha256, calls: 0 };
        this.used.set(place, { sha256, calls: user.calls + 1 });
      }
      return () => {
        for (const { name } of skills) this.release(join(root, name));
      };
    });
  }

  private release(place: string): void {
    const user = this.used.get(place);
    if (!user) return;
    user.calls -= 1;
    if (user.calls <= 0) this.used.delete(place);
  }

  private async place(root: string, skills: readonly NamedSkill[], run: RunId): Promise<void> {
    const recordFile = `${root}.json`;
    const known = await readRecord(recordFile);
    for (const skill of skills) {
      if (known[skill.name] === skill.sha256) continue;
      const draft = `${root}-${randomUUID()}`;
      const former = `${draft}-former`;
      try {
        await this.write(draft, skill, run);
        if (known[skill.name]) {
          known[skill.name] = ''; // a process that dies here leaves no folder, and the next writes it again
          await writeRecord(recordFile, known);
        }
        await rename(join(root, skill.name), former).catch(unlessMissing);
        await rename(draft, join(root, skill.name));
      } finally {
        await rm(draft, { recursive: true, force: true });
        await rm(former, { recursive: true, force: true });
      }
      known[skill.name] = skill.sha256;
      await writeRecord(recordFile, known);
    }
  }

  private async write(folder: string, { id, name, version, sha256 }: NamedSkill, run: RunId): Promise<void> {
    const named = { run_id: run, skill_id: id, version };
    const answer = await this.ask({ ask: 'files', ...named }, name);
    if (answer.how !== 'files') throw unavailable(name, 'it was deleted');
    if (hashSkillFiles(answer.files) !== sha256)
      throw unavailable(name, 'its files are not those that the run began with');
    await mkdir(folder, { mode: 0o755 });
    for (const file of answer.files) {
      const path = join(folder, file.path);
      if (!path.startsWith(`${folder}/`)) throw unavailable(name, 'a path leads out of its folder');
      const bytes = await this.read(file, { named, name });
      await mkdir(dirname(path), { recursive: true, mode: 0o755 });
      await writeFile(path, bytes, { flag: 'wx', mode: file.is_executable ? 0o755 : 0o644 });
    }
  }

  private async read(
    { path, size, sha256 }: SkillFile,
    { named, name }: { readonly named: Pick<SkillQuestion, 'run_id' | 'skill_id' | 'version'>; readonly name: string },
  ): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let offset = 0; offset < size;) {
      const answer = await this.ask({ ask: 'part', ...named, path, offset }, name);
      const part = answer.how === 'part' ? Buffer.from(answer.base64, 'base64') : Buffer.alloc(0);
      if (part.length === 0) throw unavailable(name, 'it was deleted');
      parts.push(part);
      offset += part.length;
    }
    const bytes = Buffer.concat(parts);
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) throw unavailable(name, `${path} is damaged`);
    return bytes;
  }

  private async ask(question: SkillQuestion, name: string): Promise<SkillAnswer> {
    const answer = await this.parts.ask(question);
    if (!answer) throw unavailable(name, 'no worker answers');
    return answer;
  }
}

const unavailable = (name: string, reason: string): SandboxError =>
  new SandboxError('unavailable', `Not executed: the skill ${name} is not there: ${reason}.`);

async function readRecord(file: string): Promise<Record<string, string>> {
  try {
    return record.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return {}; // Then they are written again.
  }
}

/** As a whole, or not at all. */
async function writeRecord(file: string, known: Record<string, string>): Promise<void> {
  const draft = `${file}-${randomUUID()}`;
  await writeFile(draft, JSON.stringify(known), { mode: 0o600 });
  await rename(draft, file);
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
