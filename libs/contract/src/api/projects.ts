import { z } from 'zod';
import { nameSource, project, projectSandbox } from '../project';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .meta({ examples: ['Quarterly report'] });
const isPublic = z
  .boolean()
  .describe(
    'Whether anyone who knows an id can read its threads and runs, without a key. Nothing else becomes readable.',
  );

const newProject = z.strictObject({
  name: name
    .optional()
    .describe('When absent, it is named after its first input, and then gets a short title that a model writes.'),
  is_public: isPublic.default(false),
  sandbox: projectSandbox
    .default('thread')
    .describe('`project`: the runs of all its threads share one workspace. It stays so.'),
});

const projectChange = z.strictObject({ name: name.optional(), is_public: isPublic.optional() });
const projectPage = createPage(project);

export const projects = defineRoutes('projects', {
  createProject: {
    method: 'POST',
    path: '/v1/projects',
    summary: 'Create a project',
    audit: 'project.create',
    body: newProject,
    answers: { 201: { body: project, location: '/v1/projects/{id}' } },
    problems: ['too_many_projects'],
  },
  listProjects: {
    method: 'GET',
    path: '/v1/projects',
    summary: 'List projects, newest first',
    query: pageQuery,
    answers: { 200: { body: projectPage } },
  },
  getProject: {
    method: 'GET',
    path: '/v1/projects/{project_id}',
    summary: 'Read a project',
    answers: { 200: { body: project } },
  },
  updateProject: {
    method: 'PATCH',
    path: '/v1/projects/{project_id}',
    summary: 'Name a project, share it, or end its sharing',
    audit: 'project.change',
    body: projectChange,
    answers: { 200: { body: project } },
  },
  deleteProject: {
    method: 'DELETE',
    path: '/v1/projects/{project_id}',
    summary: 'Delete a project without active runs, with its threads, runs, messages, images, files and workspaces',
    description: 'It is inaccessible at once; its data is deleted soon after.',
    audit: 'project.delete',
    answers: { 204: {} },
    problems: ['thread_busy'],
  },
});

const at = '2026-11-25T09:00:00.000Z';

export const projectSchemas: ApiSchemas = {
  requests: { NewProject: newProject, ProjectChange: projectChange },
  answers: { Project: project, ProjectPage: projectPage, NameSource: nameSource, ProjectSandbox: projectSandbox },
  examples: {
    Project: {
      id: ids.project,
      name: 'Quarterly report',
      name_source: 'request',
      is_public: true,
      sandbox: 'project',
      created_at: at,
      updated_at: at,
    },
    NewProject: { name: 'Quarterly report', sandbox: 'project' },
    ProjectChange: { is_public: true },
  },
};
