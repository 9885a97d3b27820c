import { execFileSync } from 'node:child_process';
import { toRun } from '../../bench/synthetic-run.mjs';
import { parseMetadata, parseRequest, printMetadata, toClientCode, toCurl, toRequest } from './run-request.ts';

type Run = Parameters<typeof toRequest>[0];

const run = toRun('failed', 1) as Run;
const withSettings = (settings: Partial<Run['settings']>, more: Partial<Run> = {}): Run => ({
  ...run,
  ...more,
  settings: { ...run.settings, ...settings },
});

describe('the request of a run that begins again', () => {
  it('has its input, metadata and settings, and no agent in the place of none', () => {
    const settings = { tools: ['ask', 'complete'], agent: {}, budget: { usd: 1 } };
    const request = toRequest(withSettings(settings, { metadata: { ticket: 'T-1' }, agent_id: null }), 'Go.', []);

    const { model, profile, limits, context } = run.settings;
    expect(request).toMatchObject({ input: 'Go.', metadata: { ticket: 'T-1' }, model, profile, limits, context });
    expect(request).toMatchObject({ agent: {}, tools: ['ask', 'complete'], budget: { usd: 1 } });
    expect(request).not.toHaveProperty('thread_id');
  });

  it('leaves to a stored agent what the agent says', () => {
    const request = toRequest(withSettings({ budget: {} }, { agent_id: 'agt_1', metadata: {} }), 'Go.', []);

    expect(request).toEqual({ input: 'Go.', model: run.model, agent_id: 'agt_1' });
  });

  it('asks for approval of the same calls', () => {
    const approvals = { rules: { execute_command: [{ command: 'rm *' }] }, expires_s: 60 };
    const policies = { ask: { timeout_s: 5 } };
    const request = toRequest(
      withSettings({ tools: ['ask', 'execute_command'], approvals, tool_policies: policies }, { agent_id: null }),
      'Go.',
      ['ask', 'execute_command', 'web_search'],
    );

    expect(request.approval_expires_s).toBe(60);
    expect(request.tools).toEqual({
      ask: { enabled: true, timeout_s: 5 },
      web_search: false,
      execute_command: { enabled: true, require_approval: [{ command: 'rm *' }], only: true },
    });
  });

  it('has what the run was given beside its tools', () => {
    const skill = { id: 'skl_1', name: 'charts', version: 2, sha256: '0'.repeat(64), description: 'Draws.' };
    const store = { id: 'mem_1', name: 'notes', description: '', policy: 'ask' as const, entry_count: 0, entries: [] };
    const settings = { secrets: ['TOKEN'], skills: [skill], memory: [store] };

    expect(toRequest(withSettings(settings, { agent_id: null }), 'Go.', [])).toMatchObject({
      secrets: ['TOKEN'],
      skills: [{ name: 'charts', version: 2 }],
      memory: [{ store: 'notes', policy: 'ask' }],
    });
  });
});

describe('a request', () => {
  const request = { input: `It's "50 %" of $HOME`, model: 'demo/plain' };

  it('is a command that a shell reads as it was', () => {
    const command = toCurl(request, 'http://127.0.0.1:3000').replace('curl -s', 'printf "%s\\n"');
    const lines = execFileSync('sh', ['-c', command], { encoding: 'utf8', env: {} });

    expect(parseRequest(lines.slice(lines.indexOf('{')))).toEqual(request);
  });

  it('is a program', () => {
    const code = toClientCode(request, 'http://127.0.0.1:3000');

    expect(code).toContain('baseUrl: "http://127.0.0.1:3000"');
    expect(parseRequest(/create\(([^]*)\);\nconst/.exec(code)?.[1] ?? '')).toEqual(request);
  });

  it('is an object of JSON', () => {
    expect(() => parseRequest('{')).toThrow('This is not JSON');
    expect(() => parseRequest('[]')).toThrow('A run is an object.');
  });

  it('has metadata as lines', () => {
    const metadata = { ticket: 'T-1', url: 'https://example.com/', 'team:queue': 'a: b' };
    expect(parseMetadata(printMetadata(metadata))).toEqual(metadata);
    expect(parseMetadata('\n name \nteam:queue')).toEqual({ name: '', team: 'queue' });
  });
});
