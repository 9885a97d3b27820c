import { runId, threadId } from '@rondo/contract';
import { effectiveSettings } from '../profiles/effective-settings';
import { InMemoryRunStore } from './in-memory-run-store';
import { describeRunStore } from './run-store.contract';

const id = runId.parse('run_1');

describeRunStore('InMemoryRunStore', () => {
  const store = new InMemoryRunStore();
  const effective = effectiveSettings({}, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the defaults are valid');
  store.create({ id, threadId: threadId.parse('thr_1'), settings: effective.settings, input: 'Go.' });
  return Promise.resolve({
    store,
    compactions: store.compactions,
    runId: id,
    expireLease: () => Promise.resolve(store.expireLease(id)),
    requestStop: () =>
      Promise.resolve(store.requestStop(id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null })),
  });
});
