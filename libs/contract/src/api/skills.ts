import { z } from 'zod';
import { skill, skillFile, skillVersion } from '../skill';
import { exampleHash, exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import type { PathParam } from './path-params';
import { type ApiSchemas, defineRoutes } from './route';

const skillPage = createPage(skill);
const skillVersionPage = createPage(skillVersion);
const skillFiles = z.object({ data: z.array(skillFile) });

/** What an upload may have, before and after it is unpacked. */
export const skillLimits = {
  archiveBytes: 10 * 1024 * 1024,
  totalBytes: 20 * 1024 * 1024,
  fileBytes: 5 * 1024 * 1024,
  files: 500,
  pathBytes: 240,
  depth: 12,
  frontMatterBytes: 16 * 1024,
} as const;

const form = {
  schema: {
    type: 'object',
    required: ['files'],
    properties: {
      files: {
        type: 'array',
        items: { type: 'string', format: 'binary' },
        description: 'Its files, each with its path as the filename, or one zip archive of its folder.',
      },
      executable: {
        type: 'string',
        description: 'A JSON list of the paths that are programs. An archive has modes itself.',
      },
    },
  },
  examples: { form: { value: { files: ['the bytes of SKILL.md', 'the bytes of scripts/sum.sh'] } } },
};

const version = {
  schema: z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .transform(Number),
  property: 'version',
  example: '1',
  unknown: { noun: 'version', code: 'skill_not_found' },
} as const satisfies PathParam;

const versionPath = '/v1/skills/{skill_id}/versions/{version}';

export const skills = defineRoutes('skills', {
  createSkill: {
    method: 'POST',
    path: '/v1/skills',
    summary: 'Upload a skill, or a new version of one',
    description:
      'A form with a zip archive, or with the files. The name in its SKILL.md decides which skill it is a version of. Files that are equal to those of the newest version make no other one.',
    audit: 'skill.create',
    rawBody: { 'multipart/form-data': form },
    answers: { 201: { body: skill, location: '/v1/skills/{id}' } },
    problems: [
      'malformed_request',
      'payload_too_large',
      'unsupported_media_type',
      'skill_refused',
      'too_many_skills',
      'skill_quota_exceeded',
      'too_many_bytes_in_flight',
    ],
  },
  listSkills: {
    method: 'GET',
    path: '/v1/skills',
    summary: 'List skills, newest first',
    query: pageQuery,
    answers: { 200: { body: skillPage } },
  },
  getSkill: {
    method: 'GET',
    path: '/v1/skills/{skill_id}',
    summary: 'Read a skill, as its newest version describes it',
    answers: { 200: { body: skill } },
  },
  deleteSkill: {
    method: 'DELETE',
    path: '/v1/skills/{skill_id}',
    summary: 'Delete a skill with its versions',
    description: 'Refused while a run that is not finished names it.',
    audit: 'skill.delete',
    answers: { 204: {} },
    problems: ['skill_in_use'],
  },
  listSkillVersions: {
    method: 'GET',
    path: '/v1/skills/{skill_id}/versions',
    summary: "List a skill's versions, newest first",
    query: pageQuery,
    answers: { 200: { body: skillVersionPage } },
  },
  getSkillVersion: {
    method: 'GET',
    path: versionPath,
    summary: 'Read what a version says of itself',
    params: { version },
    answers: { 200: { body: skillVersion } },
  },
  listSkillFiles: {
    method: 'GET',
    path: `${versionPath}/files`,
    summary: 'List the files of a version, by their paths',
    params: { version },
    answers: { 200: { body: skillFiles } },
  },
  readSkillFile: {
    method: 'GET',
    path: `${versionPath}/file`,
    summary: 'Read one file of a version',
    params: { version },
    query: z.strictObject({ path: z.string().max(1_000) }),
    queryExample: { path: 'SKILL.md' },
    answers: { 200: { bytes: ['application/octet-stream'] } },
  },
  readSkillArchive: {
    method: 'GET',
    path: `${versionPath}/content`,
    summary: 'Download a version as a zip archive',
    params: { version },
    answers: { 200: { bytes: ['application/zip'] } },
    problems: ['too_many_bytes_in_flight'],
  },
});

const at = '2026-11-25T09:00:00.000Z';
const example = {
  name: 'csv-totals',
  version: 2,
  description: 'Adds up the columns of CSV files. Use it when totals of a table are asked for.',
  license: 'MIT',
  compatibility: null,
  allowed_tools: [],
  metadata: { author: 'example-org' },
  sha256: exampleHash,
  size: 1_204,
  file_count: 2,
  created_at: at,
};

const exampleFile = { path: 'SKILL.md', size: 640, sha256: exampleHash, is_executable: false };

export const skillSchemas: ApiSchemas = {
  answers: {
    Skill: skill,
    SkillPage: skillPage,
    SkillVersion: skillVersion,
    SkillVersionPage: skillVersionPage,
    SkillFile: skillFile,
    SkillFiles: skillFiles,
  },
  examples: {
    Skill: { id: ids.skill, ...example, updated_at: at },
    SkillVersion: { skill_id: ids.skill, ...example },
    SkillFile: exampleFile,
    SkillFiles: { data: [exampleFile] },
  },
};
