import { parseArgs } from 'node:util';
import type { Scale } from './test-bed/test-bed';

export const usage = `npm run chaos                        every experiment at its full size, with production's leases
npm run chaos -- --only kills,stop   some of them
npm run chaos -- --small             fewer runs, shorter faults, leases of 3 s: for correctness; the times mean little
npm run chaos -- --only mixed --minutes 10   for how long faults are injected, where the size is a time
npm run chaos -- --only upgrade --from <commit>   another version than the last release beside this one
npm run chaos -- --out <directory>   the directory for SCORECARD.md and scorecard.json, which keep what other experiments have found: docs
                                     for a whole full campaign, else .data/chaos`;

export interface Options {
  readonly help: boolean;
  readonly scale: Scale['name'];
  /** All experiments when absent. */
  readonly only: readonly string[] | undefined;
  /** Replaces the time of experiments whose size is a time. */
  readonly minutes: number | undefined;
  /** The commit whose services run beside those of this checkout; the last release when absent. */
  readonly from: string | undefined;
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
      minutes: { type: 'string' },
      from: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const isWhole = !values.small && values.only === undefined;
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0)) throw new Error('--minutes must be a number above 0.');
  return {
    help: values.help,
    scale: values.small ? 'small' : 'full',
    only: values.only?.split(','),
    minutes,
    from: values.from,
    out: values.out ?? (isWhole ? 'docs' : '.data/chaos'),
  };
}
