import type { AgentDefinition } from '@rondo/contract';
import { definitionChanges, isSameJson } from './compare-definitions';

const definition: AgentDefinition = {
  name: 'writer',
  llm: { temperature: 0.2, max_tokens: 500 },
  tools: { 'a/b~c': true, shell: false },
  directives: ['Be brief.'],
};

describe('the differences of two definitions', () => {
  it('name each value that was added, removed or replaced', () => {
    const after: AgentDefinition = {
      name: 'writer',
      llm: { temperature: 0.5 },
      tools: { 'a/b~c': false, shell: false },
      directives: ['Be brief.', 'Be kind.'],
      task: 'Write.',
    };

    expect(definitionChanges(definition, after)).toEqual([
      { op: 'replace', path: '/directives', before: ['Be brief.'], after: ['Be brief.', 'Be kind.'] },
      { op: 'remove', path: '/llm/max_tokens', before: 500 },
      { op: 'replace', path: '/llm/temperature', before: 0.2, after: 0.5 },
      { op: 'add', path: '/task', after: 'Write.' },
      { op: 'replace', path: '/tools/a~1b~0c', before: true, after: false },
    ]);
  });

  it('are none if only the order of keys differs', () => {
    const { name, tools, ...rest } = definition;

    expect(isSameJson(definition, { ...rest, tools, name })).toBe(true);
    expect(isSameJson(definition, { ...definition, name: 'Writer' })).toBe(false);
  });

  it.each([
    [{ headers: { a: null, b: null } }, { headers: { b: null, a: null } }, true],
    [{ headers: { a: null } }, { headers: { a: null, b: null } }, false],
    [[1, { a: 1, b: 2 }], [1, { b: 2, a: 1 }], true],
    [[1, 2], [2, 1], false],
  ])('are none if only the order of keys within a list differs: %j and %j', (one, other, isSame) => {
    expect(isSameJson({ list: [one] }, { list: [other] })).toBe(isSame);
  });

  it('compare a key that every object inherits by its own value only', () => {
    const own = JSON.parse('{"constructor": true}') as Record<string, boolean>; // as a client can send it

    expect(definitionChanges({ name: 'a', tools: {} }, { name: 'a', tools: own })).toEqual([
      { op: 'add', path: '/tools/constructor', after: true },
    ]);
  });
});
