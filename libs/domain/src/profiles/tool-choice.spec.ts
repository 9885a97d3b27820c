import type { SettingsRequest } from '@rondo/contract';
import { tools as catalog } from '../tools/catalog';
import { effectiveSettings } from './effective-settings';
import { profiles } from './profiles';

const listTools = (request: SettingsRequest): readonly string[] => {
  const effective = effectiveSettings(request, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
  return effective.settings.tools;
};

describe('the tools of a profile', () => {
  it.each(Object.entries(profiles))('%s names tools that exist, each once', (_, profile) => {
    const { tools } = profile.settings;
    const findGroup = (name: string) => catalog.find((tool) => tool.name === name)?.group;

    expect(new Set(tools).size).toBe(tools.length);
    expect(tools.map(findGroup)).not.toContain(undefined);
    for (const name of ['http_request', 'transcribe']) {
      expect(tools).not.toContain(name);
      expect(profile.optionalTools).toContain(name);
    }
  });

  it.each([
    [
      'suna',
      [
        'execute_command',
        'create_file',
        'search_files',
        'browser_navigate_to',
        'web_browser_takeover',
        'ask',
        'complete',
      ],
      ['bash', 'readFile', 'message_user', 'browser_enter_text'],
    ],
    [
      'ii',
      ['bash', 'shell_exec', 'str_replace_editor', 'display_image', 'message_user', 'browser_click', 'complete'],
      ['execute_command', 'browser_click_coordinates', 'web_browser_takeover', 'ask'],
    ],
    [
      'symphony',
      ['readFile', 'writeFile', 'createPlan', 'parseDocument', 'ponder'],
      ['read_file', 'complete', 'bash', 'browser_navigate_to'],
    ],
  ] as const)('%s has its own names', (profile, has, hasNot) => {
    expect(listTools({ profile })).toEqual(expect.arrayContaining([...has]));
    for (const name of hasNot) expect(listTools({ profile })).not.toContain(name);
  });
});

describe('changes to the tools', () => {
  it('switch tools and groups off and on, in the names of the profile', () => {
    expect(listTools({ tools: { files: false, shell: false, web: false, memory: false } })).toEqual([
      'ask',
      'complete',
    ]);
    expect(listTools({ tools: { web: true } })).toContain('http_request');
    expect(listTools({ profile: 'symphony', tools: { web: true } })).toContain('browser_navigate_to');
    expect(listTools({ profile: 'ii', agent: { tools: [] }, tools: { shell: true } })).toEqual(
      expect.arrayContaining(['bash', 'shell_exec']),
    );
    expect(listTools({ profile: 'ii', agent: { tools: [] }, tools: { shell: true } })).not.toContain('execute_command');
    expect(listTools({ tools: { ask: false } })).not.toContain('ask');
    expect(listTools({ tools: { bash: true } })).toEqual([...profiles.suna.settings.tools, 'bash']);
  });

  it('let the name of a tool win over its group', () => {
    expect(listTools({ agent: { tools: [] }, tools: { read_file: true, files: false } })).toEqual(['read_file']);
    expect(listTools({ tools: { web: true, http_request: false } })).not.toContain('http_request');
  });

  it('switch the aliases of a tool off together with it, and one alias alone', () => {
    expect(listTools({ profile: 'ii', tools: { execute_command: false } })).not.toContain('bash');
    const withoutBash = listTools({ profile: 'ii', tools: { bash: false } });
    expect(withoutBash).not.toContain('bash');
    expect(withoutBash).toContain('shell_exec');
  });

  it('of the run apply after those of the agent, and to its list of tools', () => {
    expect(listTools({ agent: { tools: { ask: false } }, tools: { ask: true } })).toContain('ask');
    expect(listTools({ agent: { tools: { ask: false } }, tools: ['ask'] })).toEqual(['ask']);
    expect(listTools({ agent: { tools: ['read_file', 'ask'] }, tools: { ask: { enabled: false } } })).toEqual([
      'read_file',
    ]);
  });

  it.each<SettingsRequest>([
    { tools: { fly: true } },
    { agent: { tools: { fly: false } } },
    { tools: { constructor: true } },
  ])('of things that there are not are refused: %j', (request) => {
    expect(effectiveSettings(request, { model: 'demo/coder' })).toEqual({
      problems: expect.arrayContaining([{ field: 'tools', message: expect.stringContaining('there is no tool') }]),
    });
  });
});

describe('interactive', () => {
  const ends = ['ask', 'complete', 'return_control_to_user'];
  const listEnds = (request: SettingsRequest) => listTools(request).filter((name) => ends.includes(name));

  it.each([
    [{ profile: 'ii' }, ['complete', 'return_control_to_user']],
    [{ profile: 'ii', interactive: true }, ['return_control_to_user']],
    [{ profile: 'ii', interactive: false }, ['complete']],
    [{ profile: 'ii', agent: { interactive: true }, interactive: false }, ['complete']],
    [
      { profile: 'ii', interactive: false, tools: { return_control_to_user: true } },
      ['complete', 'return_control_to_user'],
    ],
    [{ interactive: false }, ['complete']],
    [{ interactive: true }, ['ask', 'complete']],
    [{ profile: 'symphony', interactive: true }, []],
  ] as const)('%j can end its turn by %j', (request, expected) => {
    expect([...listEnds(request)].sort()).toEqual([...expected].sort());
  });
});
