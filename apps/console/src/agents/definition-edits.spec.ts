import type { AgentDefinition } from '@rondo/client';
import { lines, toolChoice, withField, withMember, withTool } from './definition-edits';

const agent: AgentDefinition = { name: 'a', task: 'Write.' };

it('a field that says nothing is left out, and a name stays', () => {
  expect(withField(agent, 'task', '')).toEqual({ name: 'a' });
  expect(withField(agent, 'limits', {})).toEqual(agent);
  expect(withField(agent, 'name', '')).toEqual({ name: '', task: 'Write.' });
  expect(withField(agent, 'model', 'demo/plain')).toEqual({ ...agent, model: 'demo/plain' });
});

it('a member of a part is set and taken away', () => {
  expect(withMember({ max_iterations: 3 }, 'max_iterations', undefined)).toEqual({});
  expect(withMember<{ max_iterations?: number }>(undefined, 'max_iterations', 5)).toEqual({ max_iterations: 5 });
});

it.each(['on', 'off', 'approval', 'profile'] as const)('a tool that is set to %s is shown so', (choice) => {
  const tools = withTool({ shell: false, web: { enabled: true } }, { name: 'shell', choice });
  expect(toolChoice(tools, 'shell')).toBe(choice);
  expect(toolChoice(tools, 'web')).toBe('on');
});

it('a list of tools becomes settings when one of them is changed', () => {
  expect(toolChoice(['shell'], 'web')).toBe('off');
  expect(withTool(['shell'], { name: 'web', choice: 'on' })).toEqual({ shell: true, web: true });
});

it('empty lines are no directives', () => {
  expect(lines('One.\n\n Two.\n')).toEqual(['One.', ' Two.']);
});
