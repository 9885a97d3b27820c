import { createHash } from 'node:crypto';
import type { AccountId, Skill } from '@rondo/contract';
import { skillLimits } from '@rondo/contract/api';
import type { Skills } from '@rondo/persistence';
import type { Request } from 'express';
import { type Zippable, zipSync } from 'fflate';
import { z } from 'zod';
import type { ApiRequest } from '../auth/api-request';
import type { MemoryBudget } from '../auth/memory-budget';
import { type FormShape, readForm } from '../files/multipart';
import { parseJson } from '../http/body';
import { ApiError, refuseField } from '../problems/api-error';
import { type GivenFile, readSkill } from './read-skill';
import { unpackZip } from './unpack-zip';

const form: FormShape = {
  fileField: 'files',
  mostFiles: skillLimits.files,
  textFields: ['executable'],
  textBytes: 256 * 1024,
  keepsPaths: true,
};
const executablePaths = z.array(z.string());
/** An archive and what it unpacks to, or the files, with the copies that are made of them. */
const heldBytes = skillLimits.archiveBytes + 2 * skillLimits.totalBytes;

interface Uploader {
  readonly accountId: AccountId;
}

/** Skills from requests to the database and back. One is small enough to be held whole. */
export class SkillUploads {
  constructor(
    private readonly skills: Skills,
    private readonly memory: Pick<MemoryBudget, 'acquire'>,
  ) {}

  /** Rejects with `skill_refused` where it could not be mounted safely, or is no skill. */
  async receive({ accountId }: Uploader, request: ApiRequest): Promise<Skill> {
    const release = this.memory.acquire(accountId, heldBytes);
    try {
      const files = await readFiles(request);
      await request.claimKey?.({ files: files.map(describeFile) });
      return await this.skills.store(accountId, readSkill(files));
    } finally {
      release();
    }
  }

  /** As a zip archive in a folder of its name: the same bytes for the same version. */
  async pack({ accountId }: Uploader, version: Parameters<Skills['listFiles']>[0]): Promise<Uint8Array> {
    const release = this.memory.acquire(accountId, heldBytes);
    try {
      const { name } = await this.skills.getVersion(version);
      const archive: Zippable = {};
      for (const { path, is_executable } of await this.skills.listFiles(version)) {
        const attrs = (is_executable ? 0o100755 : 0o100644) << 16;
        archive[`${name}/${path}`] = [await this.skills.readFile(version, path), { os: 3, attrs, mtime: firstTime }];
      }
      return zipSync(archive, { level: 0 }); // to compress it would hold up the other requests of this process
    } finally {
      release();
    }
  }
}

const describeFile = ({ path, bytes, isExecutable }: GivenFile) => [
  ...[path, isExecutable],
  createHash('sha256').update(bytes).digest('hex'),
];

/** The first that an archive can name, in the time zone of this process. */
const firstTime = new Date(1980, 0, 1);

async function readFiles(request: Request): Promise<GivenFile[]> {
  let left: number = skillLimits.totalBytes;
  const { files, texts } = await readForm(request, form, async ({ name, content }) => {
    const chunks: Buffer[] = [];
    for await (const chunk of content as AsyncIterable<Buffer>) {
      left -= chunk.length;
      if (left < 0) throw new ApiError('payload_too_large', `A skill can have ${skillLimits.totalBytes} bytes.`);
      chunks.push(chunk);
    }
    return { path: name, bytes: Buffer.concat(chunks), isExecutable: false };
  });
  const [only] = files;
  if (!only) throw refuseField(form.fileField, 'give the files, or an archive of them');
  if (files.length === 1 && only.path.endsWith('.zip')) return unpackArchive(only.bytes, texts);
  for (const { path, bytes } of files)
    if (bytes.length > skillLimits.fileBytes)
      throw new ApiError('payload_too_large', `${path}: a file can have ${skillLimits.fileBytes} bytes.`);
  const executable = readExecutable(texts);
  return files.map((file) => ({ ...file, isExecutable: executable.has(file.path) }));
}

function unpackArchive(bytes: Buffer, texts: ReadonlyMap<string, string>): Promise<GivenFile[]> {
  if (texts.size > 0) throw refuseField('executable', 'an archive has modes itself');
  if (bytes.length > skillLimits.archiveBytes)
    throw new ApiError('payload_too_large', `An archive can have ${skillLimits.archiveBytes} bytes.`);
  return unpackZip(bytes);
}

function readExecutable(texts: ReadonlyMap<string, string>): ReadonlySet<string> {
  const parsed = executablePaths.safeParse(parseJson(Buffer.from(texts.get('executable') ?? '[]')));
  if (!parsed.success) throw refuseField('executable', 'must be a JSON list of paths');
  return new Set(parsed.data);
}
