import { tools } from './catalog';
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
});
