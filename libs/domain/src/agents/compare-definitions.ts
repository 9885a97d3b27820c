import type { AgentDefinition, DefinitionChange } from '@rondo/contract';

/** The differences between two definitions, in the order of their paths. Lists are compared as a whole. */
export const definitionChanges = (before: AgentDefinition, after: AgentDefinition): DefinitionChange[] =>
  changesAt('', before, after);

/** Whether two JSON values differ in nothing but the order of keys. */
export const isSameJson = (one: unknown, other: unknown): boolean => changesAt('', one, other).length === 0;

type JsonObject = Readonly<Record<string, unknown>>;

function changesAt(path: string, before: unknown, after: unknown): DefinitionChange[] {
  if (isObject(before) && isObject(after)) return changesWithin(path, before, after);
  if (Array.isArray(before) && Array.isArray(after) ? isSameList(before, after) : before === after) return [];
  if (before === undefined) return [{ op: 'add', path, after }];
  if (after === undefined) return [{ op: 'remove', path, before }];
  return [{ op: 'replace', path, before, after }];
}

function changesWithin(path: string, before: JsonObject, after: JsonObject): DefinitionChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => changesAt(`${path}/${escapeKey(key)}`, own(before, key), own(after, key)));
}

const isSameList = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((item, index) => isSameJson(item, other[index]));

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const own = (object: JsonObject, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined);

/** As RFC 6901 writes a key in a JSON Pointer. */
const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
