import { listAgents } from './agent-file';

describe('the agents of a file', () => {
  it('are its documents, with what is of no version apart from the definition', () => {
    const text =
      '---\nname: a\nis_default: true\ntags: [x]\nnote: Why.\nmodel: demo/plain\nlimits: {max_iterations: 3}\n---\nname: b\n---\n';

    expect(listAgents(text)).toEqual([
      {
        name: 'a',
        agent: {
          ...{ is_default: true, tags: ['x'], note: 'Why.' },
          definition: { model: 'demo/plain', limits: { max_iterations: 3 } },
        },
      },
      { name: 'b', agent: { definition: {} } },
    ]);
  });

  it('may be JSON', () => {
    expect(listAgents('{"name": "a", "task": "Go."}')).toEqual([{ name: 'a', agent: { definition: { task: 'Go.' } } }]);
  });

  it.each([
    ['', 'has no agent'],
    ['name: a\n---\ntask: x', 'Agent 2 of the file needs a name'],
    ['- name: a', 'Agent 1 of the file needs a name'],
    ['name: [', 'is not YAML'],
  ])('are refused: %j', (text, message) => {
    expect(() => listAgents(text)).toThrow(message);
  });
});
