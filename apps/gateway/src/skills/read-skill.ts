import { createHash } from 'node:crypto';
import { type SkillFrontMatter, sha256, skillDescription, skillName, whyNotPlain } from '@rondo/contract';
import { skillLimits } from '@rondo/contract/api';
import { hashSkillFiles } from '@rondo/messaging';
import type { NewSkillVersion, StoredSkillFile } from '@rondo/persistence';
import { FrontMatterProblem, readFrontMatter } from '@rondo/platform';
import { z } from 'zod';
import { ApiError } from '../problems/api-error';

/** A file as it was uploaded. Its path is not checked yet. */
export interface GivenFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly isExecutable: boolean;
}

export const refuseSkill = (detail: string): ApiError => new ApiError('skill_refused', detail);

const manifest = 'SKILL.md';
/** What some programs put into archives, and no skill refers to. */
const isLitter = (path: string): boolean => path.startsWith('__MACOSX/') || /(^|\/)\.DS_Store$/.test(path);

/**
 * The version that these files are. They may lie in one folder, whose name does not count: the skill is named by its SKILL.md.
 * Throws `skill_refused` with the reason.
 */
export function readSkill(given: readonly GivenFile[]): NewSkillVersion {
  const kept = given.filter(({ path }) => !isLitter(path));
  for (const { path } of kept) requirePlainPath(path);
  const root = findRoot(kept.map(({ path }) => path));
  const files = kept.map((file) => toFile({ ...file, path: file.path.slice(root.length) })).sort(byPath);
  requireDistinctPaths(files.map(({ path }) => path));
  const text = files.find(({ path }) => path === manifest)?.bytes;
  if (!text) throw refuseSkill(`There is no ${manifest}, neither at the top nor in the only folder there.`);
  return { frontMatter: readManifest(text), sha256: hashSkillFiles(files), files };
}

const byPath = (a: StoredSkillFile, b: StoredSkillFile): number =>
  Buffer.compare(Buffer.from(a.path), Buffer.from(b.path));

function toFile({ path, bytes, isExecutable }: GivenFile): StoredSkillFile {
  const hash = sha256.parse(createHash('sha256').update(bytes).digest('hex'));
  return { path, size: bytes.length, sha256: hash, is_executable: isExecutable, bytes };
}

/** `folder/` if everything is in one folder and no SKILL.md at the top; else nothing. */
function findRoot(paths: readonly string[]): string {
  const [first = ''] = paths;
  const root = first.slice(0, first.indexOf('/') + 1);
  if (root === '' || paths.includes(manifest)) return '';
  return paths.every((path) => path.startsWith(root)) ? root : '';
}

function requirePlainPath(path: string): void {
  const problem = whyNotPlain(path, skillLimits);
  if (problem !== undefined) throw refuseSkill(`A path ${problem}: ${JSON.stringify(path.slice(0, 100))}.`);
}

/** On no file system may one file stand for another: names that differ in case or in the form of their characters are the same. */
function requireDistinctPaths(paths: readonly string[]): void {
  const files = new Set<string>();
  const spellings = new Map<string, string>();
  for (const path of paths) {
    const same = toSame(path);
    if (files.has(same))
      throw refuseSkill(`Two files have the same path, or differ in case only: ${JSON.stringify(path)}.`);
    files.add(same);
    for (const folder of listFolders(path)) {
      const known = spellings.get(toSame(folder)) ?? folder;
      if (known !== folder) throw refuseSkill(`Two folders differ in case only: ${JSON.stringify(folder)}.`);
      spellings.set(toSame(folder), folder);
    }
  }
  for (const folder of spellings.keys())
    if (files.has(folder)) throw refuseSkill(`A file and a folder have the same path: ${JSON.stringify(folder)}.`);
}

const toSame = (path: string): string => path.normalize('NFKC').toLowerCase();

const listFolders = (path: string): string[] => {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
};

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const shortText = z.string().trim().min(1).max(500).nullish().default(null);
/** Fields that this form does not know are ignored: other products have some of their own. */
const given = z.object({
  name: skillName,
  description: skillDescription,
  license: shortText,
  compatibility: shortText,
  'allowed-tools': z
    .union([z.string().transform((text) => text.split(/\s+/).filter(Boolean)), z.array(scalar)])
    .nullish(),
  metadata: z.record(z.string(), z.union([scalar, z.unknown().transform((value) => JSON.stringify(value))])).nullish(),
});

function readManifest(bytes: Buffer): SkillFrontMatter {
  const parsed = given.safeParse(parse(bytes));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refuseSkill(`${manifest}: ${issue?.path.join('.') || 'front matter'}: ${issue?.message}.`);
  }
  const { name, description, license, compatibility, metadata, 'allowed-tools': tools } = parsed.data;
  return { name, description, license, compatibility, allowed_tools: tools ?? [], metadata: metadata ?? {} };
}

function parse(bytes: Buffer): unknown {
  try {
    return readFrontMatter(bytes, skillLimits.frontMatterBytes);
  } catch (error) {
    if (error instanceof FrontMatterProblem) throw refuseSkill(`${manifest}: ${error.message}.`);
    throw error;
  }
}
