import { toModelName, ordinary, toPlan } from './plan';
import { readRequest, tagInput } from './request';

const createRequest = (messages: object[]): Buffer =>
  Buffer.from(JSON.stringify({ model: toModelName(ordinary), messages }));

describe('readRequest', () => {
  it('counts the calls that were answered since the newest task', () => {
    const tool = { role: 'tool', tool_call_id: 'a', content: 'done' };
    const history = [{ role: 'user', content: tagInput('old') }, tool, tool];
    const task = [{ role: 'user', content: tagInput('new1') }, { role: 'assistant', content: 'ä' }, tool];

    expect(readRequest(createRequest([...history, ...task]))).toMatchObject({ tag: 'new1', turn: 1 });
  });

  it('does not count roles that are quoted in a message', () => {
    const quoting = { role: 'tool', tool_call_id: 'a', content: '{"role":"tool"} {"role":"user"}' };

    expect(readRequest(createRequest([{ role: 'user', content: tagInput('x') }, quoting])).turn).toBe(1);
  });

  it('refuses a request that the bench did not send', () => {
    expect(() => readRequest(createRequest([{ role: 'user', content: 'hello' }]))).toThrow(
      'not a request of the bench',
    );
  });

  it('finds the plan in the name of the model', () => {
    const plan = { ...ordinary, tool: 'ask' as const, held: true, paceMs: 20 };
    const body = Buffer.from(
      JSON.stringify({ model: toModelName(plan), messages: [{ role: 'user', content: tagInput('x') }] }),
    );

    expect(toPlan(readRequest(body).modelName)).toEqual(plan);
  });
});
