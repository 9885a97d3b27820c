import { readAuditSearch, toAuditQuery } from './audit-search';

it('the filters of the audit log are those of the address that mean something', () => {
  const search = readAuditSearch({ action: 'run.stop', by: 'key_1', outcome: 'maybe', from: 'soon', target: '', x: 1 });

  expect(search).toEqual({ action: 'run.stop', by: 'key_1' });
  expect(toAuditQuery({ ...search, outcome: 'refused', before: '2026-11-27T00:00:00Z' })).toEqual({
    ...{ action: 'run.stop', caller_id: 'key_1', outcome: 'refused' },
    created_before: '2026-11-27T00:00:00.000Z',
  });
});
