import { tools } from './catalog';
import { leavesProcesses } from './leaves-processes';

describe('leavesProcesses', () => {
  it.each(['execute_command', 'bash', 'shell_exec', 'browser_navigate_to', 'browser_navigation', 'notes__read'])(
    'is true of %s',
    (name) => expect(leavesProcesses(name)).toBe(true),
  );

  it.each(['read_file', 'shell_view', 'ask', 'web_search'])('is false of %s', (name) =>
    expect(leavesProcesses(name)).toBe(false),
  );

  it('takes no built-in tool for one of a server', () => {
    expect(tools.filter(({ name }) => name.includes('__'))).toEqual([]);
  });
});
