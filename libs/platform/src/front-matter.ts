import { CORE_SCHEMA, load } from 'js-yaml';

/** Why a text has no front matter that can be read. */
export class FrontMatterProblem extends Error {
  override readonly name = 'FrontMatterProblem';
}

/** Aliases let a short text stand for an enormous value. */
const mostNodes = 1_000;

/** The value between two lines of ---, which must be in the first bytes of a text. Throws FrontMatterProblem. */
export function readFrontMatter(bytes: Buffer, mostBytes: number): unknown {
  const head = bytes
    .subarray(0, mostBytes)
    .toString()
    .replace(/^\uFEFF/, '');
  const text = /^---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(head)?.[1];
  if (text === undefined)
    throw new FrontMatterProblem(
      `it must begin with front matter between two lines of ---, in its first ${mostBytes} bytes`,
    );
  const value = parseYaml(text);
  requireFewNodes(value);
  return value;
}

function parseYaml(text: string): unknown {
  try {
    return load(text, { schema: CORE_SCHEMA });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : '';
    throw new FrontMatterProblem(`its front matter is no YAML: ${reason}`);
  }
}

/** Visits a value once for each alias of it, so that it counts what a copy of it would have. */
function requireFewNodes(value: unknown): void {
  const waiting: unknown[] = [value];
  for (let count = 0; waiting.length > 0; count += 1) {
    if (count > mostNodes) throw new FrontMatterProblem(`its front matter has more than ${mostNodes} values`);
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const inner: unknown[] = Object.values(next);
    waiting.push(...inner.slice(0, mostNodes));
  }
}
