import { toFailedResult } from '@rondo/contract';
import { LedgeredTools, RunsUntilStopped } from './ledgered-tools';
import { type ExecutorBehaviour, describeTools } from './tools.contract';

function toolsWith(behaviour: ExecutorBehaviour): LedgeredTools {
  if ('prints' in behaviour) return new LedgeredTools(() => behaviour.prints);
  if ('fails' in behaviour) return new LedgeredTools(() => toFailedResult(behaviour.fails));
  if ('diesOnce' in behaviour) {
    return new LedgeredTools(
      () => behaviour.diesOnce,
      ({ attempt }) => attempt === 1,
    );
  }
  return new LedgeredTools(() => new RunsUntilStopped(behaviour.runsUntilStopped === 'confirmed'));
}

describeTools('LedgeredTools', (behaviour) => {
  const tools = toolsWith(behaviour);
  return Promise.resolve({
    holder: () => Promise.resolve(tools),
    listEffects: ({ id }) => tools.effects.get(id) ?? 0,
    running: () => Promise.resolve(),
    leaveRunning: (processes) => Promise.resolve(void (tools.leftRunning = processes)),
  });
});
