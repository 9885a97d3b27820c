import { isSameSearch, keepSaved, readSaved, withSaved } from './saved-filters';

const stored = new Map<string, string>();
beforeEach(() => {
  stored.clear();
  const storage = {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, text: string) => stored.set(name, text),
  };
  Object.assign(globalThis, { localStorage: storage });
});
afterEach(() => Reflect.deleteProperty(globalThis, 'localStorage'));

describe('saved filters of the runs', () => {
  it('are kept for each account, and replaced by those with the same name', () => {
    const saved = withSaved(withSaved([], { name: 'mine', search: { text: 'tax', shown: 80 } }), {
      name: 'mine',
      search: { status: 'failed', shown: 80 },
    });
    keepSaved('acc_1', saved);

    expect(readSaved('acc_1')).toEqual([{ name: 'mine', search: { status: 'failed' } }]);
    expect(readSaved('acc_2')).toEqual([]);
  });

  it.each(['{', '{}', '[1, null, {"name": 7, "search": {}}, {"name": "a", "search": "b"}]'])(
    'are none where %s is stored',
    (text) => {
      stored.set('rondo.filters.acc_1', text);
      expect(readSaved('acc_1')).toEqual([]);
    },
  );

  it('are the same in whatever order, however many runs are shown', () => {
    expect(isSameSearch({ model: 'm', status: 'failed' }, { status: 'failed', model: 'm', shown: 80 })).toBe(true);
    expect(isSameSearch({ model: 'm' }, { model: 'n' })).toBe(false);
  });
});
