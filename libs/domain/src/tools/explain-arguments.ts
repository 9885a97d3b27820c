import type { z } from 'zod';
import type { ToolDefinition } from './define-tool';

type Issue = z.core.$ZodIssue;

const shownCharacters = 60;
const shownIssues = 10;

/** What is wrong with a call's arguments, in words that a model can act on: where, what was expected, what came. */
export function explainArguments(tool: ToolDefinition, error: z.ZodError, given: unknown): string {
  const lines = error.issues.slice(0, shownIssues).map((issue) => `- ${explain(issue, tool, given)}`);
  return [`Invalid arguments for ${tool.name}:`, ...lines].join('\n');
}

function explain(issue: Issue, tool: ToolDefinition, given: unknown): string {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const parameters = Object.keys(tool.input.shape).join(', ') || 'none';
    return `${issue.keys.map(clip).join(', ')}: no such parameter. Parameters: ${parameters}`;
  }
  return `${path || 'arguments'}: expected ${expectation(issue)}, received ${describe(valueAt(given, issue.path))}`;
}

function expectation(issue: Exclude<Issue, { code: 'unrecognized_keys' }>): string {
  if (issue.code === 'invalid_type') return issue.expected === 'int' ? 'a whole number' : toNoun(issue.expected);
  if (issue.code === 'too_small') return `at least ${issue.minimum}${toUnit(issue.origin)}`;
  if (issue.code === 'too_big') return `at most ${issue.maximum}${toUnit(issue.origin)}`;
  return issue.message;
}

const toNoun = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

function toUnit(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' items' : '';
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    given,
  );
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length} items`;
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `the ${typeof value} ${JSON.stringify(value)}`;
  return value.length > shownCharacters
    ? `a string of ${value.length} characters`
    : `the string ${JSON.stringify(value)}`;
}

const clip = (text: string): string => (text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text);
