import {
  isFiltered,
  readAuditSearch,
  readMemorySearch,
  readRunsSearch,
  readStoreSearch,
  toAuditQuery,
  toRunQuery,
} from './searches.ts';

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

it('the filters of the audit log are those of the address that mean something', () => {
  const search = readAuditSearch({ action: 'run.stop', by: 'key_1', outcome: 'maybe', from: 'soon', target: '', x: 1 });

  expect(search).toEqual({ action: 'run.stop', by: 'key_1' });
  expect(toAuditQuery({ ...search, outcome: 'refused', before: '2026-11-27T00:00:00Z' })).toEqual({
    ...{ action: 'run.stop', caller_id: 'key_1', outcome: 'refused' },
    created_before: '2026-11-27T00:00:00.000Z',
  });
});

describe('the filters in the address of the runs', () => {
  it('are those that the list knows', () => {
    const search = readRunsSearch({ status: 'failed', key: 'ticket', value: 118, reason: '', shown: 80, other: 'x' });

    expect(search).toEqual({ status: 'failed', key: 'ticket', value: '118', shown: 80 });
    expect(readRunsSearch({ status: 'none', from: 'soon' })).toEqual({});
    expect([isFiltered(search), isFiltered({ shown: 80 })]).toEqual([true, false]);
  });

  it('are those of the API', () => {
    const search = { status: 'failed', model: 'demo/plain', reason: 'error', agent: 'agt_1', text: 'tax' } as const;

    expect(toRunQuery({ ...search, key: 'team', value: 'red', from: '2026-11-27T00:00:00Z' })).toEqual({
      ...{ status: 'failed', model: 'demo/plain', finish_reason: 'error', agent_id: 'agt_1', q: 'tax' },
      ...{ metadata_key: 'team', metadata_value: 'red', created_from: '2026-11-27T00:00:00.000Z' },
    });
    expect(toRunQuery({ key: 'team' })).toEqual({});
  });
});
