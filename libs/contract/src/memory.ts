import { z } from 'zod';
import { endUser } from './end-user';
import { agentId, callId, memoryStoreId, projectId, runId } from './ids';
import { hyphenatedName, whyNotPlain } from './plain-name';

/** What a store may have. All versions count for its bytes. */
export const memoryLimits = {
  entryBytes: 64 * 1024,
  entries: 1_000,
  /** Of one entry: older ones are deleted. */
  versions: 20,
  storeBytes: 8 * 1024 * 1024,
  pathBytes: 240,
  depth: 12,
} as const;

export const memoryStoreName = hyphenatedName;

export const memoryPath = z
  .string()
  .max(memoryLimits.pathBytes, { abort: true })
  .superRefine((path, context) => {
    const problem = whyNotPlain(path, memoryLimits);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: `a path that ${problem}` });
  });

const tooLong = `must have at most ${memoryLimits.entryBytes} bytes`;

export const memoryContent = z
  .string()
  .max(memoryLimits.entryBytes, { error: tooLong, abort: true })
  .refine((text) => new TextEncoder().encode(text).length <= memoryLimits.entryBytes, { error: tooLong, abort: true })
  .regex(/^[^\0\p{Surrogate}]*$/u, 'must be text without the character U+0000');

export const memoryVersionNumber = z.number().int().positive();

/** Of an entry that a client or a model knows. 0: there is none. */
export const knownMemoryVersion = z.number().int().nonnegative();

/** What a run may change in a store: nothing, what a person approves, or all. */
export const memoryPolicy = z.enum(['allow', 'ask', 'deny']);

/** A store that an agent or a run names. The most particular one of the name is meant: of the user, the agent, the project, the account. */
const memoryChoice = z.strictObject({ store: memoryStoreName, policy: memoryPolicy.optional() });

export const memoryChoices = z
  .array(memoryChoice)
  .max(10)
  .refine((list) => new Set(list.map(({ store }) => store)).size === list.length, 'names a store twice');
export type MemoryChoice = z.infer<typeof memoryChoice>;

/** A store of a run, with the entries that its prompt lists: some of those that there were when it was created. */
export const runMemoryStore = z.object({
  id: memoryStoreId,
  name: memoryStoreName,
  description: z.string(),
  policy: memoryPolicy,
  entry_count: z.number().int(),
  entries: z.array(z.object({ path: z.string(), size: z.number().int(), version: memoryVersionNumber })),
});
export type RunMemoryStore = z.infer<typeof runMemoryStore>;

/** What a store is of. All null: of the whole account. */
export const memoryScope = z.object({
  project_id: projectId.nullable(),
  agent_id: agentId.nullable(),
  user: endUser.nullable(),
});

export const memoryStore = memoryScope.extend({
  id: memoryStoreId,
  name: memoryStoreName,
  description: z.string(),
  entry_count: z.number().int(),
  size: z.number().int().describe('Of all versions of all entries, in bytes.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type MemoryStore = z.infer<typeof memoryStore>;

/** Who wrote a version: a caller of the API, or the call of a run. */
export const memoryWriter = z.object({
  caller_id: z.string().nullable().describe('The API key, or the user of an outside issuer.'),
  run_id: runId.nullable(),
  tool_call_id: callId.nullable(),
  seq: z.number().int().positive().nullable().describe('Of the event in the log of the run that planned the call.'),
});
export type MemoryWriter = z.infer<typeof memoryWriter>;

const entryFields = {
  path: z.string(),
  version: memoryVersionNumber.describe('Grows with each write to the store, and is never used again.'),
  size: z.number().int().describe('In bytes.'),
  written_by: memoryWriter,
};

/** One version of an entry, without its content. */
export const memoryVersion = z.object({ ...entryFields, created_at: z.iso.datetime() });
export type MemoryVersion = z.infer<typeof memoryVersion>;

export const memoryEntry = memoryVersion.extend({ content: z.string() });
export type MemoryEntry = z.infer<typeof memoryEntry>;

/** An entry that has the words of a search. */
export const memoryMatch = memoryVersion.extend({ excerpt: z.string() });
export type MemoryMatch = z.infer<typeof memoryMatch>;
