import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Scale } from '../scale';
import type { Count, Figure, Findings } from './measure';

const profiles = ['suna', 'ii', 'symphony'] as const;
/** `searched` and `unsearched`: 128 tools of a server, found with `tool_search` or all of them in each request. */
const kinds = ['plain', 'browser', 'compaction', 'image', 'mcp', 'searched', 'unsearched'] as const;
const makers = ['openai', 'claude'] as const;

const share = { unit: '%', bounds: 'value', better: 'more' } as const;
const size = { unit: 'tokens', bounds: 'value', better: 'less' } as const;

/** Of each profile what stands before the first message, and of each kind of run what a cache can serve. */
const figures: readonly Figure[] = [
  ...profiles.flatMap((profile) => [
    ...makers.map((maker): Figure => {
      const key = `${profile}, ${maker}, definitions`;
      return { key, title: `${profile}, tools as ${maker} counts them`, ...size, goal: 3_000 };
    }),
    { key: `${profile}, openai, prompt`, title: `${profile}, system prompt without tools`, ...size },
  ]),
  ...kinds.flatMap((kind) =>
    makers.flatMap((maker): Figure[] => [
      { key: `${kind}, ${maker}, perRequest`, title: `${kind}, ${maker}: a request on average`, ...size },
      { key: `${kind}, ${maker}, cacheable`, title: `${kind}, ${maker}: of all tokens, a cache can serve`, ...share },
      {
        key: `${kind}, ${maker}, ofRepeated`,
        title: `${kind}, ${maker}: of those that the request before had`,
        ...share,
        goal: 95,
      },
    ]),
  ),
];

const numbers = z.record(z.string(), z.number());
const report = z.object({ frames: z.record(z.string(), numbers), runs: z.record(z.string(), numbers) });
const shares: ReadonlySet<string> = new Set(['cacheable', 'ofRepeated']);

const script = join(__dirname, '../../../../libs/llm/bench/request-tokens.mjs');

async function run({ countedTurns }: Scale): Promise<Findings> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--json', '--turns', String(countedTurns)]);
  const { frames, runs } = report.parse(JSON.parse(stdout));
  const found = Object.entries({ ...frames, ...runs }).flatMap(([about, values]) =>
    Object.entries(values).map(
      ([name, value]) => [`${about}, ${name}`, shares.has(name) ? value * 100 : value] as const,
    ),
  );
  return Object.fromEntries(found);
}

export const tokens: Count = { name: 'tokens', figures, run };
