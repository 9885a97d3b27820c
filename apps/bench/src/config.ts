import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { comparisons, counts, trials } from './measures/all-measures';
import { short, whole } from './scale';

const names = [...counts, ...comparisons, ...trials].map(({ name }) => name);

export const help = `npm run bench                      measures everything; figures are ratios to a bare loop around the openai SDK
npm run bench -- --only turns,gap  only these; there are ${names.join(', ')}
npm run bench -- --rounds 9        more rounds than ${whole.rounds}
npm run bench -- --short           everything once and tiny, to see that it works; its figures mean nothing
npm run bench -- --tracing 0.1     with tracing on, of this share of the runs; without it tracing is off
npm run bench -- --profile         also writes CPU profiles of the services and prints their largest costs
npm run bench -- --trace           instead prints each message on the way of a run, with its time and CPU; with --only start
npm run bench -- --profiles DIR    where profiles and traces are written to (.data/profiles)
npm run bench -- --v8 interrupt-budget=135168  with these flags of V8 in the services, separated by commas, after those that they set
npm run bench -- --warm-up 20      seconds under load before the first measure, instead of ${whole.warmUpSeconds}
npm run bench -- --out FILE        also writes the figures as JSON`;

const measureName = z.enum(names as [string, ...string[]]); // it was made from two lists that are not empty

const request = z.object({
  help: z.boolean().default(false),
  only: z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(measureName))
    .default(names),
  rounds: z.coerce.number().int().min(1).optional(),
  short: z.boolean().default(false),
  tracing: z.coerce.number().min(0).max(1).optional(),
  profile: z.boolean().default(false),
  trace: z.boolean().default(false),
  v8: z
    .string()
    .regex(/^[\w-]+(=\w+)?(,[\w-]+(=\w+)?)*$/)
    .transform((list) => list.split(',').map((flag) => `--${flag}`))
    .default([]),
  'warm-up': z.coerce.number().min(1).optional(),
  profiles: z
    .string()
    .default('.data/profiles')
    .transform((path) => resolve(path)),
  out: z.string().optional(),
});

export type BenchOptions = ReturnType<typeof readOptions>;

/** Parses the command line. Throws an error whose message is meant for the user. */
export function readOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean' },
      only: { type: 'string' },
      rounds: { type: 'string' },
      short: { type: 'boolean' },
      tracing: { type: 'string' },
      profile: { type: 'boolean' },
      trace: { type: 'boolean' },
      v8: { type: 'string' },
      'warm-up': { type: 'string' },
      profiles: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const parsed = request.safeParse(values);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const { rounds, 'warm-up': warmUpSeconds, ...options } = parsed.data;
  const scale = options.short ? short : whole;
  return {
    ...options,
    scale: {
      ...scale,
      rounds: rounds ?? scale.rounds,
      warmUpSeconds: warmUpSeconds ?? scale.warmUpSeconds,
    },
  };
}
