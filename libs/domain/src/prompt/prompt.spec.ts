import { type SettingsRequest, type WorkspaceSkill, runId, threadId } from '@rondo/contract';
import type { AgentRun } from '../loop-context';
import type { ModelRequest } from '../models/model';
import { effectiveSettings } from '../profiles/effective-settings';
import { replay } from '../run/run-state';
import { tools } from '../tools/catalog';
import type { ToolDefinition } from '../tools/define-tool';
import { toToolSet } from '../tools/tool-set';
import { toPrompt } from './prompt';

function promptFor(request: SettingsRequest, catalog: readonly ToolDefinition[] = tools): ModelRequest {
  const run = toRun(request, catalog);
  return toPrompt({ run, state: run.state }).prompt;
}

function toRun(request: SettingsRequest, catalog: readonly ToolDefinition[] = tools): AgentRun {
  const effective = effectiveSettings(request, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
  return {
    id: runId.parse('run_1'),
    threadId: threadId.parse('thr_1'),
    settings: effective.settings,
    tools: toToolSet(effective.settings, catalog),
    createdAt: '2026-11-23T13:21:59.999Z',
    state: replay([]),
  };
}

const toSystem = (request: SettingsRequest): string => promptFor(request).system;

/** The index of each part, which occurs once. */
const listIndexes = (text: string, parts: readonly string[]): number[] =>
  parts.map((part) => {
    expect(text.split(part)).toHaveLength(2);
    return text.indexOf(part);
  });

describe('the skills of a repository', () => {
  const skill = (name: string, description: string) => ({ name, description, path: `site/.claude/skills/${name}` });
  const toSystemWith = (skills: readonly WorkspaceSkill[], request: SettingsRequest = {}) => {
    const run = toRun(request);
    const state = { ...run.state, workspaceSkills: skills };
    return toPrompt({ run, state }).prompt.system;
  };

  it('are named with their files, for a run that can read them', () => {
    const skills = [skill('release', 'Publishes the site.')];

    expect(toSystemWith(skills)).toContain('- /workspace/site/.claude/skills/release/SKILL.md: Publishes the site.');
    expect(toSystemWith(skills, { tools: [] })).not.toContain('SKILL.md');
  });

  it('take no more of the prompt than they may', () => {
    const many = Array.from({ length: 50 }, (_, index) => skill(`skill-${index}`, 'x'.repeat(1_024)));

    expect(toSystemWith(many).length - toSystemWith([]).length).toBeLessThan(14_500);
  });
});

describe('the system prompt', () => {
  it('describes the agent, with a name and without', () => {
    const description = 'A reviewer of drawings.';

    expect(toSystem({ agent: { description } })).toContain(`\n\nAbout you: ${description}\n\n`);
    expect(toSystem({ agent: { name: 'Ada', description } })).toContain(
      `\n\nYour name is Ada.\n\nAbout you: ${description}\n\n`,
    );
  });

  it('contains the date of the run but no time, so that all runs of a day share it', () => {
    expect(toSystem({})).toContain('Today is 2026-11-23 (UTC).');
    expect(toSystem({})).not.toContain('13:21');
  });

  it('lists the agent, its tools and its directives, then the format of replies', () => {
    const agent = { system_prompt: 'You draw.', task: 'Draw a bridge.', directives: ['Use ink.'] };
    const tools = ['read_file'];
    const base = ['You draw.', 'Draw a bridge.', '## read_file', '- Use ink.'];
    const demand = ['--- BEGIN SDK JSON REQUIREMENTS ---', '--- END SDK JSON REQUIREMENTS ---'];

    const indexes = listIndexes(toSystem({ agent, tools, profile: 'symphony' }), [...base, ...demand]);
    expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
    expect(toSystem({ agent, tools: [], profile: 'symphony' })).not.toContain('JSON');
  });

  it('speaks only of tools that the run has', () => {
    expect(toSystem({})).toContain('Use "ask"');
    expect(toSystem({ interactive: false })).not.toContain('"ask"');
    expect(toSystem({ profile: 'ii', interactive: true })).not.toContain('"complete"');
    expect(toSystem({ profile: 'ii', interactive: true })).toContain('when the task is solved, or when only the user');
    expect(toSystem({ profile: 'ii', interactive: false })).not.toContain('return_control_to_user');
  });

  it('shows a sample to models that need one, and never under a prompt of its own', () => {
    const sample = 'An example of what you say';

    expect(toSystem({ model: 'demo/coder' })).toContain(sample);
    expect(toSystem({ model: 'anthropic/claude-sonnet-4-5' })).not.toContain(sample);
    expect(toSystem({ agent: { system_prompt: 'You draw.' } })).not.toContain(sample);
  });

  it('says how to treat results of outside servers to a run that has such tools', () => {
    const [tool] = tools.filter(({ name }) => name === 'read_file');
    if (!tool) throw new Error('there is no read_file');
    const ofServer = {
      ...tool,
      name: 'tickets__read',
      source: { kind: 'mcp', server: 'tickets', tool: 'read', fingerprint: 'f1' },
    } as const;

    expect(promptFor({}, [...tools, ofServer]).system).toContain('never make up or fill in a result');
    expect(toSystem({})).not.toContain('outside servers');
  });

  it('mentions sequential_thinking to an agent of the profile ii that has it', () => {
    expect(toSystem({ profile: 'ii' })).toContain('"sequential_thinking"');
    expect(toSystem({ profile: 'ii', tools: ['complete'] })).not.toContain('sequential_thinking');
  });
});

it.each([
  [['read_file'], ['read_file', 'expand_message']],
  [
    ['expand_message', 'ask'],
    ['expand_message', 'ask'],
  ],
  [[], []],
])('adds expand_message to any tools, and nothing to none: %j', (tools, offered) => {
  expect(promptFor({ tools }).tools.map(({ name }) => name)).toEqual(offered);
});

describe('the tools of a request', () => {
  const sharedSet = toRun({}).tools;
  const toTools = (dialect: 'native' | 'json') => {
    const run = { ...toRun({ processor: { dialect } }), tools: sharedSet };
    return toPrompt({ run, state: run.state }).prompt.tools;
  };

  it('are the same objects in all runs that share a set, so that adapters translate each tool once', () => {
    const first = toTools('native');

    expect(first).toHaveLength(sharedSet.offered.length);
    expect(toTools('native')).toBe(first);
  });

  it('are in the system prompt of a dialect that writes them as text', () => {
    expect(toTools('json')).toEqual([]);
  });
});
