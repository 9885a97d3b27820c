import type { Fact } from '@rondo/test-deployment';
import { describeRepeated, isOfOneCall, listPlannedEffects, listRepeated } from './planned-effects';
import { EffectLedger } from '../effects/effect-ledger';

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

const tag = 'steps-1/3/keyed';
const fact = (type: string, data: object) => ({ type, data }) as unknown as Fact; // what is read
const plannedRequest = (id: string) =>
  fact('tool.planned', {
    tool_call: { id, name: 'http_request', arguments: { url: `http://127.0.0.1:1/keyed/plain/${tag}` } },
  });
const sent = (id: string) => [plannedRequest(id), fact('tool.started', { tool_call_id: id })];

describe('an effect that took place twice', () => {
  let ledger: EffectLedger;
  const receive = (key: string) => ledger.receive({ tag, key, body: tag, credentials: undefined, honoursKeys: true });

  beforeEach(() => {
    ledger = new EffectLedger();
    receive('first');
    receive('second');
  });

  it('is that of one call when the logs have one call for it', () => {
    const [repeated] = listRepeated(sent('call_1'), ledger);

    expect(repeated).toEqual({ tag, times: 2, calls: ['call_1'], keys: ['first', 'second'] });
    expect(repeated && isOfOneCall(repeated)).toBe(true);
  });

  it('was asked for twice when the logs have a call for each time', () => {
    const [repeated] = listRepeated([...sent('call_1'), ...sent('call_2')], ledger);

    expect(repeated && isOfOneCall(repeated)).toBe(false);
    expect(repeated && describeRepeated(repeated)).toBe(
      `${tag} took effect 2 times: the model asked for it again (calls: call_1, call_2; keys: first, second)`,
    );
  });

  it('is that of one call when the other call was never sent', () => {
    const [repeated] = listRepeated([...sent('call_1'), plannedRequest('call_2')], ledger);

    expect(repeated?.calls).toEqual(['call_1']);
  });

  it('is not one when the server knew the key', () => {
    const once = new EffectLedger();
    for (const _ of [1, 2]) once.receive({ tag, key: 'k', body: tag, credentials: undefined, honoursKeys: true });

    expect(listRepeated(sent('call_1'), once)).toEqual([]);
  });
});
