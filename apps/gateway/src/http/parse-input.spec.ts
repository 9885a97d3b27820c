import { decisionFields, runReads, runs, usageQuery } from '@rondo/contract/api';
import type { z } from 'zod';
import { InvalidRequest } from '../problems/api-error';
import { parseInput } from './parse-input';

const refusals = (schema: z.ZodType, json: string) => {
  try {
    parseInput(schema, JSON.parse(json));
    return [];
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error;
    return error.about.errors;
  }
};
const refusedFields = (schema: z.ZodType, json: string): string[] => refusals(schema, json).map(({ field }) => field);

const newRun = runs.createRun.body;
const edited = `{"decision": "edit", "arguments_hash": "${'a'.repeat(64)}", "arguments": {"command": "ls", "__proto__": "x"}}`;
const freeValue = 'llm.extra_body.a.0.__proto__';

describe('attack: __proto__ as a name in a request', () => {
  it.each([
    ['a field', newRun, '{"input": "Hi", "__proto__": {"model": "demo/plain"}}', '__proto__'],
    ['a key of metadata', newRun, '{"input": "Hi", "metadata": {"__proto__": "x"}}', 'metadata.__proto__'],
    ['a tool', newRun, '{"input": "Hi", "agent": {"tools": {"__proto__": true}}}', 'agent.tools.__proto__'],
    ['an argument of a call that a person edits', decisionFields, edited, 'arguments.__proto__'],
    ['part of a free value', newRun, '{"input": "Hi", "llm": {"extra_body": {"a": [{"__proto__": 1}]}}}', freeValue],
  ])('%s', (_, schema, json, field) => {
    expect(refusedFields(schema, json)).toEqual([field]);
  });
});

describe('parseInput', () => {
  it('keeps other names that every object has', () => {
    const named = JSON.parse('{"input": "Hi", "metadata": {"constructor": "x", "toString": "y"}}') as unknown;
    expect(parseInput(newRun, named)).toMatchObject({ metadata: { constructor: 'x', toString: 'y' } });
  });

  it.each([
    ['an input', newRun, '{"input": 5}', 'input', 'Invalid input: expected string or array'],
    ['tools', newRun, '{"input": "Hi", "tools": "ask"}', 'tools', 'Invalid input: expected array or object'],
    [
      'the rule of a tool',
      newRun,
      '{"input": "Hi", "tools": {"ask": 5}}',
      'tools.ask',
      'Invalid input: expected boolean or object',
    ],
    ['a limit', runReads.listRuns.query, '{"limit": "many"}', 'limit', 'Invalid input: expected number'],
    [
      'metadata',
      newRun,
      '{"input": "Hi", "metadata": 5}',
      'metadata',
      'Invalid input: expected object, received number',
    ],
    ['a time', usageQuery, '{"from": "2026-11-01T09:00:00"}', 'from', 'Invalid ISO date or Invalid ISO datetime'],
  ])('says what is expected as %s of another type or form', (_, schema, json, field, message) => {
    expect(refusals(schema, json)).toEqual([{ field, message }]);
  });

  it('says what is wrong with the name of a value', () => {
    const message = 'this name is invalid: Too big: expected string to have <=64 characters';
    const name = 'k'.repeat(65);

    expect(refusals(newRun, `{"input": "Hi", "metadata": {"${name}": "x"}}`)).toEqual([
      { field: `metadata.${name}`, message },
    ]);
  });
});
