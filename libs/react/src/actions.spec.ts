import type { ToolCallRow } from '@rondo/client';
import { describeAction, findView, summarizeActions } from './actions.ts';

const call = (name: string, args: Record<string, unknown> | null, status: ToolCallRow['status'] = 'completed') => ({
  ...{ name, status, arguments: args, argumentsText: JSON.stringify(args) },
});

describe('a call in words', () => {
  it.each([
    [call('execute_command', { folder: 'a', command: 'npm test' }), 'Ran', 'npm test'],
    [call('execute_command', { command: 'npm test' }, 'dispatched'), 'Running', 'npm test'],
    [call('read_file', { file_path: 'a.md' }, 'failed'), 'Failed: reading', 'a.md'],
    [call('deploy', { name: 'a' }, 'unknown'), 'Outcome unknown: publishing', 'a'],
    [call('create_file', { file_path: '/workspace/a/b.md', file_contents: '' }), 'Wrote', 'a/b.md'],
    [call('browser_click_element', { index: 4 }), 'Used the browser', 'click element'],
    [call('browser_navigate_to', { url: 'https://example.com/' }), 'Opened', 'https://example.com/'],
    [call('notes__add_note', { text: 'x' }), 'Used', 'notes: add_note'],
    [call('constructor', {}), 'Used', 'constructor'],
    [call('execute_command', null, 'dispatched'), 'Running', ''],
  ])('%j', (given, verb, object) => {
    expect(describeAction(given)).toEqual({ verb, object });
  });

  it('that a person has not decided about yet is not said to go on', () => {
    const approval = { id: 'apr_1', requestedAt: '', expiresAt: '', decision: null };
    const asked = { ...call('execute_command', { command: 'rm -rf a' }, 'planned'), approval };
    expect(describeAction(asked)).toEqual({ verb: 'Waits for approval: running', object: 'rm -rf a' });
    expect(describeAction({ ...asked, status: 'failed' }).verb).toBe('Failed: running');
  });

  it('several are counted, the most frequent first', () => {
    const names = ['create_file', 'execute_command', 'bash', 'shell_exec', 'writeFile'];

    expect(summarizeActions(names.map((name) => ({ name })))).toBe('3 commands, 2 files written');
  });

  it('has a view of its own for what a person would look at', () => {
    expect(
      ['bash', 'str_replace', 'visit_webpage', 'browser_scroll_down', 'ponder'].map((name) => findView({ name })),
    ).toEqual(['terminal', 'file', 'page', 'browser', 'call']);
  });
});
