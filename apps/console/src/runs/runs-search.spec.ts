import { isFiltered, readRunsSearch, toRunQuery } from './runs-search';

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
