import type { Fact } from '@rondo/test-deployment';
import { listPlannedEffects } from './planned-effects';

const planned = (name: string, asked: object) =>
  ({ type: 'tool.planned', data: { tool_call: { id: `call_${name}`, name, arguments: asked } } }) as unknown as Fact; // what is read

describe('the effects that a run planned', () => {
  it('are those of its own calls, not those that it asks of a child run', () => {
    const request = 'curl http://127.0.0.1:1/unkeyed/plain/tree-1/a/unsafe';

    const effects = listPlannedEffects([
      planned('execute_command', { command: request }),
      planned('run_agent', { input: request }),
    ]);

    expect(effects).toEqual([{ callId: 'call_execute_command', behaviour: 'plain', tag: 'tree-1/a/unsafe' }]);
  });
});
