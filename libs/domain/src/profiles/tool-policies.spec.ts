import type { SettingsRequest } from '@rondo/contract';
import { tools as catalog } from '../tools/catalog';
import type { ToolDefinition } from '../tools/define-tool';
import { executeCommand } from '../tools/shell.tools';
import { callTimeoutMs, mostCallMs, toToolSet } from '../tools/tool-set';
import { effectiveSettings } from './effective-settings';

const tickets = { name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example/mcp' } as const;
const ofServer = (name: string): ToolDefinition => ({
  ...executeCommand,
  ...{ name, description: 'Reads.', group: 'external', timeoutMs: 600_000 },
  source: { kind: 'mcp', server: 'tickets', tool: 'read', fingerprint: 'f1' },
});

const effective = (request: SettingsRequest) => effectiveSettings(request, { model: 'demo/coder' });

function createSettings(request: SettingsRequest) {
  const result = effective(request);
  if ('problems' in result) throw new Error(JSON.stringify(result.problems));
  return result.settings;
}

function listFields(request: SettingsRequest): string[] {
  const result = effective(request);
  return 'problems' in result ? result.problems.map(({ field }) => field) : [];
}

const toolIn = (request: SettingsRequest, name: string) => {
  const settings = createSettings(request);
  const tool = toToolSet(settings, [...catalog, ofServer('tickets__read')]).offered.find((one) => one.name === name);
  return tool && { description: tool.description, seconds: callTimeoutMs(settings, tool) / 1_000 };
};

describe('the policy of a tool', () => {
  it('describes it to the model and limits its calls; the run wins over the agent, field by field', () => {
    const agent = { tools: { execute_command: { description: 'Run make.', timeout_s: 300 } } };
    expect(toolIn({ agent }, 'execute_command')).toEqual({ description: 'Run make.', seconds: 300 });
    expect(toolIn({ agent, tools: { execute_command: { timeout_s: 5 } } }, 'execute_command')).toEqual({
      description: 'Run make.',
      seconds: 5,
    });
  });

  it('covers other names of the tool and its group, of which the nearest wins', () => {
    const tools = { shell: { timeout_s: 7 }, execute_command: { timeout_s: 8 } };
    expect(toolIn({ profile: 'ii', tools }, 'bash')?.seconds).toBe(8);
    expect(toolIn({ profile: 'ii', tools }, 'shell_exec')?.seconds).toBe(7);
    expect(toolIn({ profile: 'ii', tools: { ...tools, bash: { timeout_s: 9 } } }, 'bash')?.seconds).toBe(9);
  });

  it('is the limit of the run where it names no time, and never beyond the limit of the tool', () => {
    expect(toolIn({}, 'execute_command')?.seconds).toBe(120);
    expect(toolIn({ limits: { tool_timeout_s: 20 } }, 'execute_command')?.seconds).toBe(20);
    expect(toolIn({ tools: { files: { timeout_s: 500 } } }, 'read_file')?.seconds).toBe(30);
  });

  it('changes nothing of the settings of a run that names none', () => {
    expect(createSettings({ tools: { shell: false } })).not.toHaveProperty('tool_policies');
  });

  it('covers tools of the servers that the run names', () => {
    const policies = { description: 'Reads a ticket.', timeout_s: 400 };
    const request = { mcp_servers: [tickets], tools: { tickets__read: policies } };
    expect(toolIn(request, 'tickets__read')).toEqual({ description: 'Reads a ticket.', seconds: 400 });
    expect(toolIn({ mcp_servers: [tickets] }, 'tickets__read')).toEqual({ description: 'Reads.', seconds: 120 });
    expect(toolIn({ mcp_servers: [tickets], tools: { tickets__read: false } }, 'tickets__read')).toBeUndefined();
    expect(toolIn({ mcp_servers: [tickets], tools: { external: false } }, 'tickets__read')).toBeUndefined();
    const onlyThat = { external: false, tickets__read: true };
    expect(toolIn({ mcp_servers: [tickets], tools: onlyThat }, 'tickets__read')).toBeDefined();
  });

  it('lets a call of a server that reports progress take longer, unless it names the time itself', () => {
    const read = ofServer('tickets__read');
    expect(mostCallMs(createSettings({ mcp_servers: [tickets], limits: { tool_timeout_s: 20 } }), read)).toBe(600_000);
    const policy = { mcp_servers: [tickets], tools: { tickets__read: { timeout_s: 400 } } };
    expect(mostCallMs(createSettings(policy), read)).toBeUndefined();
    expect(mostCallMs(createSettings({}), executeCommand)).toBeUndefined();
  });

  it.each<[SettingsRequest, string]>([
    [{ tools: { read_file: { timeout_s: 31 } } }, 'tools.read_file.timeout_s'],
    [{ agent: { tools: { read_file: { timeout_s: 31 } } } }, 'agent.tools.read_file.timeout_s'],
    [{ tools: { ask: { timeout_s: 10 } } }, 'tools.ask.timeout_s'],
    [{ tools: { shell: { description: 'Runs.' } } }, 'tools.shell.description'],
    [{ tools: { tickets__read: { timeout_s: 10 } } }, 'tools'],
  ])('that cannot be is refused: %j', (request, field) => {
    expect(listFields(request)).toEqual([field]);
  });
});
