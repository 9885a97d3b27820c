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
    ['an input', newRun, '{"input": 5}', 'input', 'must be text or a list'],
    ['tools', newRun, '{"input": "Hi", "tools": "ask"}', 'tools', 'must be a list or an object'],
    [
      'the rule of a tool',
      newRun,
      '{"input": "Hi", "tools": {"ask": 5}}',
      'tools.ask',
      'must be true or false or an object',
    ],
    ['a limit', runReads.listRuns.query, '{"limit": "many"}', 'limit', 'must be a number'],
    ['metadata', newRun, '{"input": "Hi", "metadata": 5}', 'metadata', 'must be an object'],
    [
      'a time',
      usageQuery,
      '{"from": "2026-11-01T09:00:00"}',
      'from',
      'must be a date such as 2026-11-30 or a time with its zone, such as 2026-11-30T09:00:00Z',
    ],
  ])('says what is expected as %s of another type or form', (_, schema, json, field, message) => {
    expect(refusals(schema, json)).toEqual([{ field, message }]);
  });

  it.each([
    [
      'is absent',
      '{"input": "Hi", "limits": {}, "mcp_servers": [{"name": "a", "transport": "sse"}]}',
      'mcp_servers.0.url',
      'is required',
    ],
    ['is empty', '{"input": ""}', 'input', 'must not be empty'],
    ['is too small', '{"input": "Hi", "limits": {"max_iterations": 0}}', 'limits.max_iterations', 'must be at least 1'],
    [
      'is no whole number',
      '{"input": "Hi", "limits": {"max_iterations": 1.5}}',
      'limits.max_iterations',
      'must be a whole number',
    ],
    ['is none of the choices', '{"input": "Hi", "profile": "x"}', 'profile', 'must be one of "suna", "ii", "symphony"'],
    ['is of another type', '{"input": "Hi", "model": 5}', 'model', 'must be text'],
    [
      'has words of its own',
      '{"input": "Hi", "llm": {"extra_body": {"model": 1}}}',
      'llm.extra_body',
      expect.stringContaining('model'),
    ],
  ])('says in plain English what to do where a value %s', (_, json, field, message) => {
    expect(refusals(newRun, json)).toEqual([{ field, message }]);
  });

  it('says what is wrong with the name of a value', () => {
    const message = 'this name is invalid: must have at most 64 characters';
    const name = 'k'.repeat(65);

    expect(refusals(newRun, `{"input": "Hi", "metadata": {"${name}": "x"}}`)).toEqual([
      { field: `metadata.${name}`, message },
    ]);
  });
});
