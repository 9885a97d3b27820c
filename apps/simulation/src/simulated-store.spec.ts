import { runId, threadId } from '@rondo/contract';
import { effectiveSettings } from '@rondo/domain';
import { describeRunStore } from '@rondo/domain/testing';
import { SimulatedStore } from './simulated-store';
import { Timeline } from './timeline';

const id = runId.parse('run_1');

describeRunStore('SimulatedStore', async () => {
  const timeline = new Timeline();
  const store = new SimulatedStore({ timeline, activate: () => undefined });
  const effective = effectiveSettings({}, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the defaults are valid');
  const thread_id = threadId.parse('thr_1');
  store.create({
    id,
    threadId: thread_id,
    settings: effective.settings,
    input: {
      id: 'msg_1' as never, // a literal with the right prefix
      thread_id,
      run_id: id,
      iteration: null,
      type: 'user',
      is_llm_message: true,
      content: [{ type: 'text', text: 'Go.' }],
      metadata: {},
    },
  });
  return {
    store,
    compactions: store.compactions,
    runId: id,
    expireLease: async () => {
      timeline.now += 15_001;
    },
    requestStop: async () => {
      store.requestStop(id, { requestedAt: '2026-01-01T00:00:00.000Z', reason: null });
    },
  };
});
