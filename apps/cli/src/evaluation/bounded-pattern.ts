import { runInNewContext } from 'node:vm';

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
