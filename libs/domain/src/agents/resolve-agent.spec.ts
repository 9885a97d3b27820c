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
