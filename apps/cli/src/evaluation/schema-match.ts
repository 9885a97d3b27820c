import { runInNewContext } from 'node:vm';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

/** Patterns of a schema are bounded in time. `toString` tells them apart: Ajv keeps one for each text that it returns. */
const boundedPatterns = Object.assign(
  (pattern: string, flags: string) => {
    new RegExp(pattern, flags); // a schema whose pattern is none is refused
    return { test: (text: string) => matches(pattern, text), toString: () => `/${pattern}/${flags}` };
  },
  { code: 'boundedPatterns' },
);

const compiled = new Map<string, ValidateFunction>();

/** A JSON Schema of draft 2020-12, as JSON. Throws an Error that says what is wrong with it. */
export function compileSchema(schema: string): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const ajv = new Ajv2020({ strictTypes: false, strictTuples: false, code: { regExp: boundedPatterns } });
  addFormats(ajv);
  const parsed: unknown = JSON.parse(schema);
  if (typeof parsed !== 'boolean' && (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)))
    throw new Error('a schema is an object, true or false');
  const validate = ajv.compile(parsed);
  compiled.set(schema, validate);
  return validate;
}

/** Whether the text is JSON that the schema allows. Models put JSON into a fenced block: its fences do not count. */
export function matchesSchema(text: string, schema: string): boolean {
  const value = findJson(text);
  if (value === undefined) return false;
  try {
    return compileSchema(schema)(value.json);
  } catch (error) {
    if (error instanceof SlowPatternError) return false;
    throw error;
  }
}

function findJson(text: string): { readonly json: unknown } | undefined {
  const [, fenced = text] = /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/s.exec(text) ?? [];
  try {
    return { json: JSON.parse(fenced) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const timeout = 1_000;

/** A pattern took too long on a text that a model has written. */
export class SlowPatternError extends Error {
  override readonly name = 'SlowPatternError';
}

/**
 * Whether the pattern matches somewhere. A pattern can take any time on a text that was written for it: throws a
 * SlowPatternError after a second, and a SyntaxError where the pattern is none.
 */
export function matches(pattern: string, text: string): boolean {
  try {
    return runInNewContext('new RegExp(pattern, "u").test(text)', { pattern, text }, { timeout }) as boolean; // as `test` does
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new SlowPatternError(`The pattern ${pattern} takes too long.`);
    throw error;
  }
}
