import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { z } from 'zod';

const service = z.looseObject({
  environment: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).default({}),
  extends: z.object({ file: z.string(), service: z.string() }).optional(),
});
const composeFile = z.looseObject({ services: z.record(z.string(), service) });

const file = resolve(__dirname, '../../../docker-compose.yml');

const readCompose = (path: string) =>
  composeFile.parse(load(readFileSync(path, 'utf8'), { schema: CORE_SCHEMA.withTags(mergeTag) }));

/**
 * The environment of a container, as Compose makes it from docker-compose.yml and the variables outside: with the service that it
 * extends, merges, `${NAME…}` replaced, and without variables that have no value. Throws where a required one is missing.
 */
export function containerEnvironment(
  name: string,
  outside: Readonly<Record<string, string>>,
  path = file,
): Record<string, string> {
  const { environment, extends: base } = readCompose(path).services[name] ?? {};
  const inherited = base ? readDeclared(join(dirname(path), base.file), base.service) : {};
  return Object.fromEntries(
    Object.entries({ ...inherited, ...environment }).flatMap(([variable, value]) => {
      const given = value === null ? outside[variable] : interpolate(String(value), outside);
      return given === undefined ? [] : [[variable, given] as const];
    }),
  );
}

const readDeclared = (path: string, name: string) => readCompose(path).services[name]?.environment ?? {};

/** `${A}`, `${A:-otherwise}`, `${A:+instead}`, `${A:?}`; what stands in them is replaced, too. */
function interpolate(text: string, outside: Readonly<Record<string, string>>): string {
  const innermost = /\$\{([A-Z_]+)(?::([-+?])([^{}]*))?\}/;
  const found = innermost.exec(text);
  if (!found) return text;
  const [all, name = '', how, word = ''] = found;
  const value = outside[name] ?? '';
  if (how === '?' && value === '') throw new Error(`${name} is required`);
  const replaced = how === '+' ? (value === '' ? '' : word) : value === '' ? word : value;
  return interpolate(text.replace(all, replaced), outside);
}
