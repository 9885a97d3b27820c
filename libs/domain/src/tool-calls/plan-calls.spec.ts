import type { ProcessorSettings } from '@rondo/contract';
import { calls, RunHarness, says, ScriptedModel } from '../testing';
import { honoursKeysAt } from '../tools/define-tool';

const request = (given: Record<string, unknown>) => ({
  name: 'http_request',
  arguments: { url: 'https://example.org/', ...given },
});

describe('planCalls', () => {
  it('records each call with the effect class of its arguments (I5)', async () => {
    const post = { method: 'POST', body: '{}' };
    const wave = [request({ method: 'GET' }), request(post), request({ ...post, idempotency: 'key_honoured' })];
    const extra = { honoursKeys: honoursKeysAt(['example.org']) };
    const harness = new RunHarness({ model: new ScriptedModel([calls(...wave), says('Done.')]), extra });

    await harness.activate();

    const planned = harness.log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call] : []));
    expect(planned.map((call) => call.effect_class)).toEqual(['pure', 'unsafe', 'keyed']);
  });

  it.each<[string, Partial<ProcessorSettings>]>([
    ['over the limit of a turn', { max_tool_calls: 1 }],
    ['of a run that executes none', { execute_tools: false }],
    ['after the end of the turn', { tool_execution_strategy: 'sequential' }],
  ])('tells the model that a call %s was not executed', async (_, processor) => {
    const model = new ScriptedModel([
      calls({ name: 'complete', arguments: {} }, { name: 'list_files', arguments: {} }),
      says('Done.'),
    ]);
    const harness = new RunHarness({ model, settings: { processor } });

    await harness.activate();

    const failed = harness.log.findLast((fact) => fact.type === 'tool.failed');
    expect(failed?.data).toMatchObject({ name: 'list_files' });
    expect(failed?.data.result.error).toContain('not executed');
  });
});
