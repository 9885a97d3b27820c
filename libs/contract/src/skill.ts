import { z } from 'zod';
import { skillId } from './ids';
import { sha256 } from './image';
import { hyphenatedName } from './plain-name';

/** It is also the name of the skill's folder. */
export const skillName = hyphenatedName;

export const skillDescription = z.string().trim().min(1).max(1_024);

const skillVersionNumber = z.number().int().positive();

/** A skill that an agent or a run names, and the version; absent: the newest when the run is created. */
const skillChoice = z.strictObject({ name: skillName, version: skillVersionNumber.optional() });

export const skillChoices = z
  .array(skillChoice)
  .max(20)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'names a skill twice');
export type SkillChoice = z.infer<typeof skillChoice>;

/** A version of a skill that a run has from its beginning to its end. */
export const runSkill = z.object({
  id: skillId,
  name: skillName,
  version: skillVersionNumber,
  sha256,
  description: skillDescription,
});
export type RunSkill = z.infer<typeof runSkill>;

/** One file of a version of a skill. */
export const skillFile = z.object({
  path: z.string().describe('Relative to the folder of the skill.'),
  size: z.number().int().nonnegative().describe('In bytes.'),
  sha256,
  is_executable: z.boolean(),
});
export type SkillFile = z.infer<typeof skillFile>;

/** What the front matter of a SKILL.md says. */
export const skillFrontMatter = z.object({
  name: skillName,
  description: skillDescription,
  license: z.string().max(500).nullable(),
  compatibility: z.string().max(500).nullable().describe('What it needs of its environment, as its author says.'),
  allowed_tools: z
    .array(z.string())
    .describe('Tools that its author expects. They grant nothing: the tools and policies of the run decide.'),
  metadata: z.record(z.string(), z.string()),
});
export type SkillFrontMatter = z.infer<typeof skillFrontMatter>;

const versionFields = {
  version: skillVersionNumber,
  ...skillFrontMatter.omit({ name: true }).shape,
  sha256: sha256.describe('Of the paths, the modes and the hashes of all files.'),
  size: z.number().int().describe('Of all files, in bytes.'),
  file_count: z.number().int(),
};

/** A skill of an account, as its newest version describes it. */
export const skill = z.object({
  id: skillId,
  name: skillName,
  ...versionFields,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime().describe('When its newest version was stored.'),
});
export type Skill = z.infer<typeof skill>;

export const skillVersion = z.object({
  skill_id: skillId,
  name: skillName,
  ...versionFields,
  created_at: z.iso.datetime(),
});
export type SkillVersion = z.infer<typeof skillVersion>;
