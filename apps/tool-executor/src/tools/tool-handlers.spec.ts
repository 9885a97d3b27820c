import { implementedTools } from '@rondo/domain';
import { toolHandlerFor } from './tool-handlers';

/** Arguments under which a tool of each kind waits for its turn. */
const given = { session_name: 'one', session_id: 'one', file_path: 'a.txt', path: 'a.txt', command: 'create' };

describe('the handler of a tool', () => {
  const handled = implementedTools.filter(({ runsIn }) => runsIn === 'executor');

  it.each(handled.map((tool) => [tool.name, tool] as const))('%s takes turns as its definition says', (name, tool) => {
    const key = toolHandlerFor(name)?.handler.mutexKey?.(given);
    const kind = key?.includes(' ') === true ? key.slice(0, key.lastIndexOf(' ')) : key;
    expect(kind).toBe('exclusive' in tool ? tool.exclusive : undefined);
  });
});
