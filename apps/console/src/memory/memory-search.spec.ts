import { readMemorySearch, readStoreSearch } from './memory-search.ts';

describe('the address of a page of memory', () => {
  it('names a user, also one whose name is a number', () => {
    expect(readMemorySearch({ user: 4711, x: 1 })).toEqual({ user: '4711' });
    expect(readMemorySearch({ user: '' })).toEqual({});
  });

  it('names an entry, a version of it and words, where they mean something', () => {
    expect(readStoreSearch({ path: 2026, version: 3, words: 'tea' })).toEqual({
      ...{ path: '2026', version: 3, words: 'tea' },
    });
    expect(readStoreSearch({ path: '', version: 'newest', words: null })).toEqual({});
    expect(readStoreSearch({ path: 'a.md', version: 0 })).toEqual({ path: 'a.md' });
  });
});
