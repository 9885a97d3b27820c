import { programLimits } from '@rondo/contract';
import { z } from 'zod';
import { memoize } from '../memoize';
import { type ToolDefinition, defineTool, powersOfCommands } from './define-tool';
import { seeImage } from './file.tools';
import { isMemoryStoreTool } from './memory-store.tools';
import { type ToolParameter, listParameters } from './tool-parameters';

/**
 * A run that has it has its other tools in programs only: see docs/programs.md. `idempotent`: a program that is run again gets the
 * same answers for the calls that it has made, so that none of them is made twice.
 */
export const runProgram = defineTool({
  name: 'run_program',
  description:
    'Run a program that calls your tools. You read only what it prints and returns, so let it do the loops, filters and sums. ' +
    'node: the body of an async function; `await tools.NAME({…})` resolves to the output as text, or rejects; `return` a value. ' +
    'python: `tools.NAME(key=value)`, several at once with `gather(("NAME", {…}), …)`; assign what it returns to `result`. ' +
    'It may be run again from its start, with the same answers: change things by tools only, and call them in an order that does ' +
    'not depend on the time or on chance.',
  input: z.strictObject({
    language: z.enum(['node', 'python']),
    source: z.string().min(1).max(programLimits.source),
  }),
  powers: powersOfCommands,
  effect: 'idempotent',
  runsIn: 'executor',
  timeoutMs: 600_000,
  group: 'code',
  example: {
    language: 'node',
    source: 'const names = await tools.list_files({ path: "." }); return names.split("\\n").length;',
  },
  xml: { attributes: ['language'], content: 'source' },
});

export const isProgram = (name: string): boolean => name === runProgram.name;

/** Others end the turn, read the conversation or show an image, so that only the model itself can use them. */
export const mayProgramsCall = ({ name, runsIn }: ToolDefinition): boolean =>
  !isProgram(name) && name !== seeImage.name && (runsIn !== 'loop' || isMemoryStoreTool(name));

const indexCharacters = 12_000;
const shownCharacters = 100;

/** What the model is shown of the tools that programs call: as much as fits of their parameters and of what they do. */
export function writeIndex(tools: readonly ToolDefinition[]): string {
  const signatures = tools.map(writeSignature);
  const lines = tools.map((tool, index) => `${signatures[index]}: ${takeFirstSentence(tool.description)}`);
  const names = tools.map(({ name }) => name);
  const fitting = [lines, signatures].map((some) => some.join('\n')).find((text) => text.length <= indexCharacters);
  return `Its tools:\n${fitting ?? names.join(', ')}`;
}

const writeSignature = memoize(
  (tool: ToolDefinition): string =>
    `${tool.name}(${[...listParameters(tool).values()].map(writeParameter).join(', ')})`,
);

const writeParameter = (parameter: ToolParameter): string =>
  `${parameter.name}${parameter.required ? '' : '?'}: ${writeType(parameter)}`;

const shownChoices = 8;

function writeType({ types, schema }: ToolParameter): string {
  const { enum: choices } = schema;
  if (Array.isArray(choices) && choices.length <= shownChoices)
    return choices.map((one) => JSON.stringify(one)).join('|');
  return types.size > 2 ? 'any' : [...types].join('|');
}

function takeFirstSentence(description: string): string {
  const text = (/^.*?[.:](?=\s|$)/s.exec(description)?.[0] ?? description).replaceAll(/\s+/g, ' ');
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}
