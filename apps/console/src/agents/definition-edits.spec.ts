import type { AgentDefinition } from '@rondo/client';
import { type ToolChoice, lines, toolChoice, withField, withMember, withTool } from './definition-edits';

const known = [
  { name: 'ask', group: 'conversation' },
  { name: 'bash', group: 'shell' },
  { name: 'web_search', group: 'web' },
];
const agent: AgentDefinition = { name: 'a', task: 'Write.' };

it('a field that says nothing is left out, and a name stays', () => {
  expect(withField(agent, 'task', '')).toEqual({ name: 'a' });
  expect(withField(agent, 'limits', {})).toEqual(agent);
  expect(withField(agent, 'tools', {})).toEqual(agent);
  expect(withField(agent, 'tools', [])).toEqual({ ...agent, tools: [] });
  expect(withField(agent, 'name', '')).toEqual({ name: '', task: 'Write.' });
  expect(withField(agent, 'model', 'demo/plain')).toEqual({ ...agent, model: 'demo/plain' });
});

it('a member of a part is set and taken away', () => {
  expect(withMember({ max_iterations: 3 }, 'max_iterations', undefined)).toEqual({});
  expect(withMember<{ max_iterations?: number }>(undefined, 'max_iterations', 5)).toEqual({ max_iterations: 5 });
});

it.each(['on', 'off', 'approval', 'profile'] as const)('a tool that is set to %s is shown so', (choice) => {
  const tools = withTool({ shell: false, web: { enabled: true } }, { name: 'shell', choice }, known);
  expect(toolChoice(tools, 'shell')).toBe(choice);
  expect(toolChoice(tools, 'web')).toBe('on');
});

it('an agent with a list of tools gets no other ones of its profile when one of them is changed', () => {
  const change = (name: string, choice: ToolChoice) => withTool(['ask', 'notes__read'], { name, choice }, known);
  const others = { ask: true, notes__read: true };
  expect(toolChoice(['ask'], 'bash')).toBe('off');
  expect(change('bash', 'on')).toEqual(['ask', 'notes__read', 'bash']);
  expect(change('ask', 'off')).toEqual(['notes__read']);
  const approved = { enabled: true, require_approval: true };
  expect(change('bash', 'approval')).toEqual({ ...others, bash: approved, web_search: false });
  expect(change('bash', 'profile')).toEqual({ ...others, web_search: false });
  expect(change('shell', 'on')).toEqual({ ...others, shell: true, web_search: false });
});

it('what else is said of a tool stays when it is switched', () => {
  const tools = { bash: { timeout_s: 300, require_approval: true } };
  const change = (choice: ToolChoice) => withTool(tools, { name: 'bash', choice }, known);
  expect(change('off')).toEqual({ bash: { timeout_s: 300, enabled: false } });
  expect(change('on')).toEqual({ bash: { timeout_s: 300, enabled: true } });
  expect(change('profile')).toEqual({ bash: { timeout_s: 300 } });
  expect(toolChoice({ bash: { timeout_s: 300 } }, 'bash')).toBe('profile');
});

it('empty lines are no directives', () => {
  expect(lines('One.\n\n Two.\n')).toEqual(['One.', ' Two.']);
});
