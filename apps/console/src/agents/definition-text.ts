/** As what a definition is edited. */
export type Format = 'form' | 'json' | 'yaml';

/** YAML is read and written by a package that is loaded when it is used. */
export async function printDefinition(definition: object, format: Exclude<Format, 'form'>): Promise<string> {
  if (format === 'json') return JSON.stringify(definition, null, 2);
  const { dump } = await import('js-yaml');
  return dump(definition, { lineWidth: 100 });
}

/** Rejects with what is wrong. Whether its fields are right is decided by the gateway. */
export async function parseDefinition<Definition extends object>(
  text: string,
  format: Exclude<Format, 'form'>,
): Promise<Definition> {
  const value = format === 'json' ? parseJson(text) : await parseYaml(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('It must be an object.');
  return value as Definition; // the gateway refuses what is none, with the field
}

/** Throws with what is wrong. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`This is not JSON: ${cause instanceof Error ? cause.message : ''}`, { cause });
  }
}

async function parseYaml(text: string): Promise<unknown> {
  const { YAMLException, load } = await import('js-yaml');
  try {
    return load(text);
  } catch (cause) {
    if (!(cause instanceof YAMLException)) throw cause;
    throw new Error(`This is not YAML: ${cause.reason}`, { cause });
  }
}
