import type { DeclaredAgent } from '@rondo/client';
import { YAMLException, loadAll } from 'js-yaml';
import { UsageError } from './command';
import { isObject } from './json-object';

export interface AgentFile {
  readonly name: string;
  readonly agent: DeclaredAgent;
}

/** The agents of a YAML file, one in each document. JSON is YAML, too. The gateway checks the definitions. */
export function listAgents(text: string): AgentFile[] {
  const found = listDocuments(text).filter((document) => document !== null && document !== undefined);
  if (found.length === 0) throw new UsageError('The file has no agent.');
  return found.map((document, index) => {
    if (!isObject(document) || typeof document['name'] !== 'string' || document['name'].trim() === '')
      throw new UsageError(`Agent ${index + 1} of the file needs a name.`);
    const { name, is_default, tags, note, ...definition } = document;
    const aside = Object.entries({ is_default, tags, note }).filter(([, value]) => value !== undefined);
    const agent = { definition, ...Object.fromEntries(aside) };
    return { name, agent }; // the gateway refuses what is none, and names the field
  });
}

function listDocuments(text: string): unknown[] {
  try {
    return loadAll(text);
  } catch (error) {
    if (error instanceof YAMLException) throw new UsageError(`The file is not YAML: ${error.message}`);
    throw error;
  }
}
