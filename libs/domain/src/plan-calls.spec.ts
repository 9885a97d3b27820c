import { RunHouse, ScriptedModel, calls, says } from './testing';

const request = (given: Record<string, unknown>) => ({
  name: 'http_request',
  arguments: { url: 'https://example.org/', ...given },
});

describe('planCalls', () => {
  it('enters each call with the class of its own arguments (I5)', async () => {
    const post = { method: 'POST', body: '{}' };
    const wave = [request({ method: 'GET' }), request(post), request({ ...post, idempotency: 'key_honoured' })];
    const house = new RunHouse({ model: new ScriptedModel([calls(...wave), says('Done.')]) });

    await house.activate();

    const planned = house.log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call] : []));
    expect(planned.map((call) => call.effect_class)).toEqual(['pure', 'unsafe', 'keyed']);
  });
});
