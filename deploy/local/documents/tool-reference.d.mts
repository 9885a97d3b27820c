import type { argumentsSchema, profiles, tools, usualOutputCharacters } from '@rondo/domain';

/** The part of libs/domain that the page is made of. */
interface Catalog {
  readonly tools: typeof tools;
  readonly profiles: typeof profiles;
  readonly argumentsSchema: typeof argumentsSchema;
  readonly usualOutputCharacters: typeof usualOutputCharacters;
}

export function toolReference(catalog: Catalog): string;
