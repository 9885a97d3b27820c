import { runSettings } from '@rondo/contract';
import { z } from 'zod';
import { flawsBetween } from './schema-changes';

/** The settings of stored runs as JSON Schema, which `npm run record-release` records. */
export const settingsStructure = (): object => z.toJSONSchema(runSettings, { io: 'input' });

/**
 * The changes that keep this version from continuing runs of the previous one. A run with a setting that a version does not
 * know is left to a newer one (see `unknownParts`), so a setting that is no longer used stays in the schema.
 */
export function settingsFlaws(before: object, now: object): string[] {
  const known = new Set(listFields(now));
  const gone = listFields(before).filter((field) => !known.has(field));
  const changed = flawsBetween(before, now).filter((flaw) => !flaw.includes('refuses unknown fields')); // that is wanted here
  return [
    ...changed,
    ...gone.map((field) => `${field}: is gone; runs of the previous version have it: keep it in the schema`),
  ];
}

/** The paths of all properties; those of cases and of records' values are their parent's. */
function listFields(schema: object, path = 'settings'): string[] {
  return Object.entries(schema).flatMap(([word, value]: [string, unknown]): string[] => {
    if (typeof value !== 'object' || value === null) return [];
    if (word !== 'properties') return listFields(value, path);
    return Object.entries(value).flatMap(([name, field]: [string, object]) => [
      `${path}.${name}`,
      ...listFields(field, `${path}.${name}`),
    ]);
  });
}
