import { parseArgs } from 'node:util';
import type { Scale } from './test-bed/test-bed';

export const usage = `npm run chaos                        every experiment at its full size, with production's leases
npm run chaos -- --only kills,stop   some of them
npm run chaos -- --small             fewer runs, shorter faults, leases of 3 s: for correctness; the times mean little
npm run chaos -- --out <directory>   the directory for SCORECARD.md and scorecard.json; docs for a whole full campaign, else .data/chaos`;

export interface Options {
  readonly help: boolean;
  readonly scale: Scale['name'];
  /** All experiments when absent. */
  readonly only: readonly string[] | undefined;
  readonly out: string;
}

/** Throws on unknown arguments. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      small: { type: 'boolean', default: false },
      only: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const isWhole = !values.small && values.only === undefined;
  return {
    help: values.help,
    scale: values.small ? 'small' : 'full',
    only: values.only?.split(','),
    out: values.out ?? (isWhole ? 'docs' : '.data/chaos'),
  };
}
