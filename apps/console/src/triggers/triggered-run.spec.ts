import { toChoice, overlaps, toTriggeredRun } from './triggered-run';

const createFields = (values: Record<string, string>) => {
  const fields = new FormData();
  for (const [name, value] of Object.entries(values)) fields.set(name, value);
  return fields;
};

it('what is left empty is not in the run, and what the form does not have stays', () => {
  const before = {
    input: 'Old.',
    model: 'demo/ask',
    limits: { max_iterations: 3 },
    budget: { usd: 1, tokens: 9 },
    metadata: {},
  };
  expect(toTriggeredRun(createFields({ input: ' New. ', model: '', agent_id: '', 'budget.usd': '' }), before)).toEqual({
    input: 'New.',
    limits: { max_iterations: 3 },
    budget: { tokens: 9 },
    metadata: {},
  });
  expect(
    toTriggeredRun(createFields({ input: 'A', model: 'demo/plain', agent_id: 'agt_1', 'budget.usd': '0.5' })),
  ).toEqual({
    input: 'A',
    model: 'demo/plain',
    agent_id: 'agt_1',
    budget: { usd: 0.5 },
  });
});

it('a choice is one of those that are offered', () => {
  expect(toChoice(createFields({ overlap: 'allow' }), 'overlap', overlaps)).toBe('allow');
  expect(toChoice(createFields({ overlap: 'other' }), 'overlap', overlaps)).toBe('skip');
});
