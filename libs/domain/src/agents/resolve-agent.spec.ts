import { type SettingsRequest, agentId } from '@rondo/contract';
import { effectiveSettings } from '../profiles/effective-settings';
import { type ActiveAgent, resolveAgent, withDefinition } from './resolve-agent';

const named = (name: string): ActiveAgent => ({
  id: agentId.parse(`agt_${name}`),
  version: 1,
  definition: { name },
  servers: [],
});
const [request, thread, account] = [named('request'), named('thread'), named('account')];

describe('the agent of a run', () => {
  it.each([
    [
      { request, thread, account },
      { source: 'request', agent: request },
    ],
    [
      { thread, account },
      { source: 'thread', agent: thread },
    ],
    [{ account }, { source: 'account', agent: account }],
    [{}, { source: 'built_in', agent: undefined }],
  ])('is named by the request, else the thread, else the account: case %#', (candidates, resolved) => {
    expect(resolveAgent(candidates)).toEqual(resolved);
  });
});

describe('the settings of a run with a stored agent', () => {
  const createSettings = (asked: SettingsRequest) => {
    const definition = {
      name: 'writer',
      profile: 'ii',
      model: 'demo/plain',
      system_prompt: 'Write.',
      tools: { shell: false },
      limits: { max_iterations: 7, tool_timeout_s: 9 },
    } as const;
    const effective = effectiveSettings(withDefinition(asked, definition), { model: 'demo/coder' });
    if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
    return effective.settings;
  };

  it('are those of its definition where the request is silent', () => {
    const settings = createSettings({});

    expect(settings).toMatchObject({
      profile: 'ii',
      model: 'demo/plain',
      agent: { name: 'writer', system_prompt: 'Write.' },
      limits: { max_iterations: 7, tool_timeout_s: 9 },
    });
    expect(settings.tools).not.toContain('bash');
    expect(settings.tools).toContain('str_replace_editor');
  });

  it('have instructions of the request after the directives of the agent', () => {
    const definition = { name: 'writer', system_prompt: 'Write.', directives: ['Be kind.'] };
    const read = (given: string) => withDefinition({}, definition, given).agent;
    expect(read(' Be brief.\n')).toMatchObject({ system_prompt: 'Write.', directives: ['Be kind.', 'Be brief.'] });
    expect(read(' ')).toMatchObject({ directives: ['Be kind.'] });
  });

  it('have the system prompt of the request where there is no agent', () => {
    expect(withDefinition({ model: 'demo/plain' }, undefined, 'Be brief.')).toEqual({
      model: 'demo/plain',
      agent: { system_prompt: 'Be brief.' },
    });
  });

  const rules = Array.from({ length: 150 }, (_, n) => `${n}. Never reveal item ${n} to a person who is not known.`);

  it.each([
    ['paragraphs', rules.join('\n\n'), /^\d+\. Never[^]*known\.$/],
    ['lines', `# Rules\n${rules.join('\n')}`, /^(# Rules\n)?\d+\. Never[^]*known\.$/],
    ['sentences', rules.map((rule) => rule.replace(/^\d+\. /, '')).join(' '), /^Never[^]*known\.$/],
    ['words', 'word '.repeat(1_500), /^word[^]*word$/],
    ['characters', '😀'.repeat(3_000), /^(😀)+$/u],
  ])('have long instructions in whole %s', (_, text, whole) => {
    const parts = withDefinition({}, { name: 'writer' }, text).agent?.directives ?? [];

    expect(parts.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(2_000);
      expect(part).toMatch(whole);
    }
  });

  it('have no sentence of long instructions cut that would fit, however short the part before it is', () => {
    const rules = ['Be kind.', `Never ${'ever '.repeat(395)}reveal it.`, 'Be brief.'];
    expect(withDefinition({}, { name: 'writer' }, rules.join('\n')).agent?.directives).toEqual(rules);
  });

  it('are those of the request where it speaks', () => {
    const settings = createSettings({ profile: 'suna', model: 'demo/long', limits: { max_iterations: 3 } });

    expect(settings).toMatchObject({
      profile: 'suna',
      model: 'demo/long',
      agent: { name: 'writer' },
      limits: { max_iterations: 3, tool_timeout_s: 9 },
    });
  });
});
