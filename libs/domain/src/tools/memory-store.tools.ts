import { knownMemoryVersion, memoryContent, memoryPath, memoryStoreName, memoryVersionNumber } from '@rondo/contract';
import { z } from 'zod';
import { defineTool } from './define-tool';

/** Answered by the run itself, and offered where it has memory stores. */
const ofStores = { runsIn: 'loop', timeoutMs: 10_000, group: 'memory' } as const;

const store = memoryStoreName.describe('The name of the store.');

export const memoryRead = defineTool({
  name: 'memory_read',
  description: 'Read an entry of a memory store. Without a path: list the entries that it has now.',
  input: z.strictObject({ store, path: memoryPath.optional() }),
  effect: 'pure',
  ...ofStores,
  xml: { attributes: ['store', 'path'] },
});

export const memorySearch = defineTool({
  name: 'memory_search',
  description:
    'Find entries of a memory store that have these words. `or` between words, and `-` before one, are understood.',
  input: z.strictObject({ store, query: z.string().trim().min(1).max(200) }),
  effect: 'pure',
  ...ofStores,
  xml: { attributes: ['store'], content: 'query' },
});

/** `idempotent`: the version has the id of the call, so a call that is made again finds what it wrote. */
export const memoryWrite = defineTool({
  name: 'memory_write',
  description:
    'Write an entry of a memory store, which later runs read. It replaces the whole entry. With `if_version` it is written only ' +
    'if that is its version now, 0 for one that is not there.',
  input: z.strictObject({ store, path: memoryPath, content: memoryContent, if_version: knownMemoryVersion.optional() }),
  effect: 'idempotent',
  ...ofStores,
  xml: { attributes: ['store', 'path', 'if_version'], content: 'content' },
});

/** `idempotent`: versions are never used again, so a call that is made again deletes nothing that was written since. */
export const memoryDelete = defineTool({
  name: 'memory_delete',
  description: 'Delete an entry of a memory store with all of its versions. `version` is the one that you have read.',
  input: z.strictObject({ store, path: memoryPath, version: memoryVersionNumber }),
  effect: 'idempotent',
  ...ofStores,
  xml: { attributes: ['store', 'path', 'version'] },
});

export const memoryStoreTools = [memoryRead, memorySearch, memoryWrite, memoryDelete] as const;

/** Those that the policy of a store is about. */
export const memoryChanges: readonly string[] = [memoryWrite.name, memoryDelete.name];

export const isMemoryStoreTool = (name: string): boolean => memoryStoreTools.some((tool) => tool.name === name);
