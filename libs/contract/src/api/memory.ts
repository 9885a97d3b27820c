import { z } from 'zod';
import { endUser } from '../end-user';
import { agentId, projectId } from '../ids';
import {
  knownMemoryVersion,
  memoryContent,
  memoryEntry,
  memoryMatch,
  memoryPath,
  memoryStore,
  memoryStoreName,
  memoryVersion,
  memoryVersionNumber,
  memoryWriter,
} from '../memory';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery, searchedWords } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const newStore = z
  .strictObject({
    name: memoryStoreName.describe('Agents and runs name it so. Once for the account, each project, agent and user.'),
    description: z.string().max(500).default(''),
    project_id: projectId.nullable().default(null).describe('Only runs of its threads can use it.'),
    agent_id: agentId.nullable().default(null).describe('Only runs of this agent can use it.'),
    user: endUser.nullable().default(null).describe('Only runs of this person can use it; it is erased with them.'),
  })
  .refine(({ project_id, agent_id, user }) => [project_id, agent_id, user].filter((one) => one !== null).length <= 1, {
    message: 'a store is of one project, one agent or one user',
    path: ['user'],
  })
  .meta({ examples: [{ name: 'preferences', description: 'What the person likes.', user: 'user-4711' }] });

const known =
  'The version that you know, 0 if there is none. Refused with `memory_entry_changed` if it is another one now.';

const newVersion = z
  .strictObject({
    content: memoryContent.describe('At most 64 KiB.'),
    if_version: knownMemoryVersion.optional().describe(known),
  })
  .meta({ examples: [{ content: 'Answer in German.\n', if_version: 7 }] });

const storeFilter = z
  .object({ project_id: projectId, agent_id: agentId, user: endUser, name: memoryStoreName })
  .partial();

const storePage = createPage(memoryStore);
const versionPage = createPage(memoryVersion);
const matches = z.object({ data: z.array(memoryMatch) });

const storePath = '/v1/memory-stores/{memory_store_id}';
const entryQuery = z.strictObject({ path: memoryPath });
const queryExample = { path: 'people/ann.md' };

export const memory = defineRoutes('memory', {
  createMemoryStore: {
    method: 'POST',
    path: '/v1/memory-stores',
    summary: 'Create a memory store, of the account, a project, an agent or a user',
    audit: 'memory_store.create',
    body: newStore,
    answers: { 201: { body: memoryStore, location: '/v1/memory-stores/{id}' } },
    problems: ['memory_store_name_taken', 'memory_quota_exceeded', 'project_not_found', 'agent_not_found'],
  },
  listMemoryStores: {
    method: 'GET',
    path: '/v1/memory-stores',
    summary: 'List memory stores, newest first',
    query: pageQuery.extend(storeFilter.shape),
    answers: { 200: { body: storePage } },
  },
  getMemoryStore: {
    method: 'GET',
    path: storePath,
    summary: 'Read what a memory store is of, and how much is in it',
    answers: { 200: { body: memoryStore } },
  },
  deleteMemoryStore: {
    method: 'DELETE',
    path: storePath,
    summary: 'Delete a memory store with its entries',
    description: 'Runs that are active find nothing there from then on.',
    audit: 'memory_store.delete',
    answers: { 204: {} },
  },
  listMemoryEntries: {
    method: 'GET',
    path: `${storePath}/entries`,
    summary: 'List the entries of a store, by their paths',
    query: pageQuery.extend({ prefix: z.string().max(240).optional().describe('Of the path, for example `people/`.') }),
    answers: { 200: { body: versionPage } },
  },
  searchMemory: {
    method: 'GET',
    path: `${storePath}/search`,
    summary: 'Find entries by words, the best first',
    description:
      'Whole words, of the newest versions: a phrase in quotes, `or`, and `-` before a word that must not be there.',
    query: z.strictObject({
      query: searchedWords.unwrap(),
      limit: z.coerce.number().int().min(1).max(50).default(10),
    }),
    queryExample: { query: 'german' },
    answers: { 200: { body: matches } },
  },
  readMemoryEntry: {
    method: 'GET',
    path: `${storePath}/entry`,
    summary: 'Read an entry, or an earlier version of it',
    query: entryQuery.extend({ version: z.coerce.number().pipe(memoryVersionNumber).optional() }),
    queryExample,
    answers: { 200: { body: memoryEntry } },
    problems: ['memory_entry_not_found'],
  },
  listMemoryVersions: {
    method: 'GET',
    path: `${storePath}/entry/versions`,
    summary: 'List the versions of an entry with who wrote each, newest first',
    description: 'The newest 20 are kept.',
    query: pageQuery.extend(entryQuery.shape),
    queryExample,
    answers: { 200: { body: versionPage } },
    problems: ['memory_entry_not_found'],
  },
  writeMemoryEntry: {
    method: 'PUT',
    path: `${storePath}/entry`,
    summary: 'Write an entry',
    description: 'The same content as before makes no other version.',
    audit: 'memory_entry.write',
    query: entryQuery,
    queryExample,
    body: newVersion,
    answers: { 200: { body: memoryEntry } },
    problems: ['memory_entry_changed', 'memory_quota_exceeded'],
  },
  deleteMemoryEntry: {
    method: 'DELETE',
    path: `${storePath}/entry`,
    summary: 'Delete an entry with all of its versions',
    audit: 'memory_entry.delete',
    query: entryQuery.extend({ if_version: z.coerce.number().pipe(knownMemoryVersion).optional().describe(known) }),
    queryExample,
    answers: { 204: {} },
    problems: ['memory_entry_not_found', 'memory_entry_changed'],
  },
});

const at = '2026-11-25T09:00:00.000Z';
const version = {
  path: 'people/ann.md',
  version: 7,
  size: 18,
  written_by: { caller_id: null, run_id: ids.run, tool_call_id: ids.call, seq: 12 },
  created_at: at,
};
const match = { ...version, excerpt: 'Answer in German.' };

export const memorySchemas: ApiSchemas = {
  requests: { NewMemoryStore: newStore, NewMemoryVersion: newVersion },
  answers: {
    MemoryStore: memoryStore,
    MemoryStorePage: storePage,
    MemoryWriter: memoryWriter,
    MemoryVersion: memoryVersion,
    MemoryVersionPage: versionPage,
    MemoryEntry: memoryEntry,
    MemoryMatch: memoryMatch,
    MemoryMatches: matches,
  },
  examples: {
    MemoryStore: {
      id: ids.memoryStore,
      name: 'preferences',
      description: 'What the person likes.',
      project_id: null,
      agent_id: null,
      user: 'user-4711',
      entry_count: 1,
      size: 18,
      created_at: at,
      updated_at: at,
    },
    MemoryVersion: version,
    MemoryEntry: { ...version, content: 'Answer in German.\n' },
    MemoryMatch: match,
    MemoryMatches: { data: [match] },
  },
};
