import fc from 'fast-check';
import { builtInTools, tools } from './catalog';
import type { ToolDefinition } from './define-tool';
import { explainArguments } from './explain-arguments';

function explain(name: string, given: unknown): string {
  const tool = builtInTools.named(name) as ToolDefinition; // the names in this file are of the catalog
  const parsed = tool.input.safeParse(given);
  return parsed.success ? 'valid' : explainArguments(tool, parsed.error, given);
}

describe('explainArguments', () => {
  it('names the place, what was expected and what came', () => {
    expect(explain('execute_command', { command: 42, blocking: 'perhaps', timeout: 1.5 })).toBe(
      [
        'Invalid arguments for execute_command:',
        '- command: expected a string, received the number 42',
        '- blocking: expected a boolean, received the string "perhaps"',
        '- timeout: expected a whole number, received the number 1.5',
      ].join('\n'),
    );
  });

  it('says what is missing and lists the parameters for a name that is none', () => {
    expect(explain('delete_file', { path: 'a.txt' })).toBe(
      [
        'Invalid arguments for delete_file:',
        '- file_path: expected a string, received nothing',
        '- path: no such parameter. Parameters: file_path',
      ].join('\n'),
    );
  });

  it.each([
    [{ command: '' }, '- command: expected at least 1 characters, received the string ""'],
    [{ command: 'x', timeout: 601 }, '- timeout: expected at most 600, received the number 601'],
    [
      { command: 'x', session_name: 'a; rm -rf /' },
      '- session_name: expected letters, digits, dot, dash and underscore only, received the string "a; rm -rf /"',
    ],
    [
      { command: 'x'.repeat(100_001) },
      '- command: expected at most 100000 characters, received a string of 100001 characters',
    ],
  ])('explains the limit that %p breaks', (given, line) => {
    expect(explain('execute_command', given)).toContain(line);
  });

  it('stays short and whole whatever a model sends', () => {
    fc.assert(
      fc.property(fc.constantFrom(...tools.map((tool) => tool.name)), fc.jsonValue(), (name, given) => {
        const text = explain(name, given);

        expect(text.length).toBeLessThan(10_000);
        expect(text).not.toContain('[object Object]');
      }),
    );
  });
});
