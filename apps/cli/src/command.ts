import type { Rondo } from '@rondo/client';
import type { Ending } from './exit-codes';
import type { Terminal } from './terminal';

export interface Option {
  /** As in `--model`. */
  readonly name: string;
  /** Names that other programs have for it. */
  readonly also?: readonly string[];
  /** As in `-m`. */
  readonly short?: string;
  /** What a value is called; absent of a switch. */
  readonly value?: string;
  readonly repeatable?: boolean;
  readonly help: string;
}

export interface Argument {
  readonly name: string;
  readonly optional?: boolean;
  readonly repeatable?: boolean;
}

/** What was given on the command line. */
export interface Given {
  readonly args: readonly string[];
  /** The value of an option; the last one if it was given more than once. */
  value(name: string): string | undefined;
  values(name: string): readonly string[];
  has(name: string): boolean;
}

/** What a command works with. */
export interface Context {
  readonly terminal: Terminal;
  /** The client of the gateway. Throws a UsageError where there is no key. */
  readonly rondo: () => Rondo;
  readonly url: string;
  /** Throws a UsageError where there is none. */
  readonly key: () => string;
}

export interface Command {
  /** One word, or two, as in `files get`. */
  readonly name: string;
  readonly summary: string;
  readonly args?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly details?: string;
  readonly run: (given: Given, context: Context) => Promise<Ending>;
}

/** The command line is wrong. The message says how to mend it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
