import { tools } from './catalog';
import { restoreToolSet, toSnapshot } from './tool-set-snapshot';
import { toToolSet } from './tool-set';

const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

describe('toToolSet', () => {
  it('offers what the settings name, in their order, and the tool that shows shortened messages', () => {
    expect(names(toToolSet({ tools: ['read_file', 'ask'] }, tools).offered)).toEqual([
      'read_file',
      'ask',
      'expand_message',
    ]);
    expect(names(toToolSet({ tools: ['expand_message', 'ask'] }, tools).offered)).toEqual(['expand_message', 'ask']);
  });

  it('offers nothing to a run without tools', () => {
    expect(toToolSet({ tools: [] }, tools).offered).toEqual([]);
  });

  it('knows tools that are not offered, and none that do not exist', () => {
    const set = toToolSet({ tools: ['ask'] }, tools);

    expect(set.named('read_file')?.name).toBe('read_file');
    expect(set.named('fly')).toBeUndefined();
    expect(set.named('constructor')).toBeUndefined();
  });

  it('offers in code mode only what programs cannot call, with an index of the others, also when it is restored', () => {
    const set = toToolSet({ tools: ['read_file', 'see_image', 'ask', 'run_program', 'execute_command'] }, tools);

    for (const one of [set, restoreToolSet(toSnapshot(set), tools)]) {
      expect(names(one.offered)).toEqual(['see_image', 'ask', 'run_program', 'expand_message']);
      expect(names(one.programs ?? [])).toEqual(['read_file', 'execute_command']);
      const { description } = one.named('run_program') ?? { description: '' };
      expect(description).toMatch(/\nread_file\(file_path: string, start_line\?: number, end_line\?: number.*\): \w/);
      expect(description).not.toContain('\nask(');
    }
  });

  it('shortens the index of many tools', () => {
    const many = tools
      .slice(0, 1)
      .flatMap((tool) => Array.from({ length: 400 }, (_, at) => ({ ...tool, name: `tool_${at}` })));
    const set = toToolSet({ tools: [...many.map(({ name }) => name), 'run_program'] }, [...tools, ...many]);

    const { description } = set.named('run_program') ?? { description: '' };
    expect(description.length).toBeLessThan(13_000);
    expect(description).toContain('tool_399');
  });
});
