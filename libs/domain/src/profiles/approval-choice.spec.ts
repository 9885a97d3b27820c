import type { SettingsRequest } from '@rondo/contract';
import { tools } from '../tools/catalog';
import { effectiveSettings } from './effective-settings';

const problemsIn = (request: SettingsRequest) => {
  const outcome = effectiveSettings(request, { model: 'demo/coder' });
  return 'problems' in outcome ? outcome.problems : [];
};
const freeIn = (request: SettingsRequest): string[] =>
  problemsIn(request).flatMap(({ message }) => (/same: ([\w, ]+)\./.exec(message)?.[1] ?? '').split(', '));

const required = { require_approval: true } as const;

describe('attack: another tool than the one that needs approval', () => {
  it.each<[string, SettingsRequest, string[]]>([
    ['shell_exec for execute_command', { tools: { execute_command: required, shell_exec: true } }, ['shell_exec']],
    [
      'the shell of the profile ii, but for the session that asks',
      { profile: 'ii', tools: { bash: required } },
      ['shell_exec', 'shell_write_to_process'],
    ],
    [
      'write_file, another editor or a command for create_file',
      { tools: { create_file: required, write_file: true, str_replace_editor: true } },
      ['execute_command', 'str_replace', 'full_file_rewrite', 'write_file', 'str_replace_editor'],
    ],
    ['a command for delete_file', { tools: { delete_file: required } }, ['execute_command']],
    [
      'a page or a command for http_request',
      { tools: { http_request: { enabled: true, ...required } } },
      ['execute_command', 'visit_webpage', 'scrape_webpage', 'browser_navigate_to'],
    ],
    [
      'one that the run adds to the rules of its agent',
      { agent: { tools: { execute_command: required } }, tools: { shell_exec: true } },
      ['shell_exec'],
    ],
    [
      'one that is freed from the rule of its group',
      { tools: { shell: required, shell_exec: { enabled: true, require_approval: false } } },
      ['shell_exec'],
    ],
  ])('%s is named and refused', (_, request, free) => {
    expect(freeIn(request).toSorted()).toEqual(free.toSorted());
  });
});

it('keeps the time for questions of MCP servers where no tool has a rule', () => {
  const readApprovals = (request: SettingsRequest) => {
    const outcome = effectiveSettings(request, { model: 'demo/coder' });
    return 'settings' in outcome ? outcome.settings.approvals : outcome.problems;
  };
  expect(readApprovals({ approval_expires_s: 60 })).toEqual({ rules: {}, expires_s: 60 });
  expect(readApprovals({ agent: { approval_expires_s: 60 }, approval_expires_s: 70 })).toEqual({
    rules: {},
    expires_s: 70,
  });
  expect(readApprovals({})).toBeUndefined();
});

describe('a rule of approval', () => {
  it.each<[string, SettingsRequest]>([
    ['for the only tool of its kind', { tools: { execute_command: required } }],
    ['for a group', { tools: { shell: required, shell_exec: true } }],
    ['for each tool', { tools: { execute_command: required, shell_exec: { enabled: true, ...required } } }],
    ['that is meant so', { tools: { create_file: { ...required, only: true } } }],
    ['that its agent meant so', { agent: { tools: { create_file: { ...required, only: true } } } }],
    ['beside tools that are off', { tools: { create_file: required, files: false, shell: false } }],
    ['for a tool without such powers', { tools: { read_file: required, web_search: required } }],
    ['that is false', { tools: { create_file: { require_approval: false } } }],
  ])('%s is accepted', (_, request) => {
    expect(problemsIn(request)).toEqual([]);
  });

  it('is refused at the field that made it, with what to do', () => {
    const message = expect.stringContaining('or add "only": true') as string;

    expect(problemsIn({ tools: { delete_file: required } })).toEqual([
      { field: 'tools.delete_file.require_approval', message },
    ]);
    expect(problemsIn({ agent: { tools: { delete_file: required } } })).toEqual([
      { field: 'agent.tools.delete_file.require_approval', message },
    ]);
  });

  it('is refused once the run takes back that the agent meant it so', () => {
    const agent = { tools: { delete_file: { ...required, only: true } } };
    expect(problemsIn({ agent, tools: { delete_file: { only: false } } })).toHaveLength(1);
  });
});

describe('the powers of the tools', () => {
  it('are those of the tool that an alias stands for', () => {
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    for (const { alias, powers } of tools) if (alias) expect(powers).toEqual(byName.get(alias.of)?.powers);
  });

  it('say of each tool of the shell and the files that is unsafe what it can do', () => {
    const silent = tools.filter(
      ({ group, effect, powers }) => ['shell', 'files'].includes(group) && effect === 'unsafe' && !powers,
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});
