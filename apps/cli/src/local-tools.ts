import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { CallerTool, HandledTool } from '@rondo/client';
import { UsageError } from './command';
import { readObject } from './json-object';

type Definition = Omit<CallerTool, 'name'>;
type LocalTool = Definition & Pick<HandledTool, 'handler'>;

/** The most of a script's output that is read, in characters. */
const longestOutput = 1_000_000;
/** How much of what a failed script has written to standard error the model is told. */
const shownError = 2_000;

/** Of a script without a description beside it. */
const usual = (script: string): Definition => ({
  description: `Runs ${basename(script)} on the computer of the person who started this.`,
  parameters: {
    type: 'object',
    properties: { input: { type: 'string', description: 'What it gets, in words or as data.' } },
  },
});

/** The tools of `--tool NAME=SCRIPT`, each with the script as its handler. Throws a UsageError for one that cannot be used. */
export async function readLocalTools(given: readonly string[]): Promise<Record<string, LocalTool>> {
  const tools = await Promise.all(given.map(readTool));
  const names = tools.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new UsageError(`There are two tools named ${twice}.`);
  return Object.fromEntries(tools);
}

/** As a request has them. */
export const toDefinitions = (tools: Readonly<Record<string, LocalTool>>): CallerTool[] =>
  Object.entries(tools).map(([name, { handler: _handler, ...definition }]) => ({ name, ...definition }));

async function readTool(given: string): Promise<[string, LocalTool]> {
  const [, name, path] = /^([A-Za-z0-9_-]{1,64})=(.+)$/.exec(given) ?? [];
  if (name === undefined || path === undefined) throw new UsageError(`--tool takes NAME=SCRIPT, not ${given}.`);
  const script = resolve(path);
  await access(script, constants.X_OK).catch(() => {
    throw new UsageError(`${path} is no program that can be executed.`);
  });
  const definition = (await readDefinition(`${script}.json`)) ?? usual(script);
  return [name, { ...definition, handler: (input, { call, signal }) => runScript(script, { input, call, signal }) }];
}

/** What the model is told of a script: the file beside it. Undefined where there is none; the gateway checks the rest. */
async function readDefinition(file: string): Promise<Definition | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const definition = readObject(text);
  if (definition) return definition as Definition; // see above
  throw new UsageError(`${file} must be a JSON object with description, parameters, timeout_s and effect_class.`);
}

interface ScriptRun {
  readonly input: Record<string, unknown>;
  readonly call: { readonly id: string; readonly name: string };
  readonly signal: AbortSignal;
}

/**
 * Resolves to what the script prints. It gets the arguments as JSON on standard input, and the id of the call as its only
 * argument. Rejects with what it wrote to standard error if it ends with a code other than 0.
 */
function runScript(script: string, { input, call, signal }: ScriptRun): Promise<string> {
  return new Promise((resolveOutput, reject) => {
    const child = spawn(script, [call.id], { signal, stdio: ['pipe', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(0, longestOutput)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-shownError)));
    child.stdin.on('error', () => undefined); // a script that reads no input may end before it was written
    child.stdin.end(JSON.stringify(input));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolveOutput(output);
      else reject(new Error(errors.trim() || `${basename(script)} ended with code ${String(code)}.`));
    });
  });
}
