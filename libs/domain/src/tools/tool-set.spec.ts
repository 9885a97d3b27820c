import { type ToolSetSnapshot, toolSetSnapshot } from '@rondo/contract';
import { dialectNamed } from '../dialects/registry';
import { effectiveSettings } from '../profiles/effective-settings';
import { tools } from './catalog';
import { effectOf } from './define-tool';
import { parametersOf } from './tool-parameters';
import { toolSetOf } from './tool-set';
import { restoreToolSet, snapshotOf } from './tool-set-snapshot';

const effective = effectiveSettings({}, { model: 'demo/coder' });
if ('problems' in effective) throw new Error('the defaults are valid');
const settings = effective.settings.processor;

const foreign: ToolSetSnapshot['tools'][number] = {
  name: 'search_tickets',
  description: 'Search the tickets.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string' }, limit: { anyOf: [true, { type: 'integer' }] } },
    required: ['query'],
  },
  effect_class: 'pure',
  runs_in: 'executor',
  timeout_ms: 5_000,
  group: 'external',
  xml: { content: 'query' },
  source: { kind: 'mcp', server: 'tickets' },
};

const stored = (snapshot: ToolSetSnapshot): ToolSetSnapshot =>
  toolSetSnapshot.parse(JSON.parse(JSON.stringify(snapshot)));
const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

describe('toolSetOf', () => {
  it('offers what the settings name, in their order, and the tool that shows shortened messages', () => {
    expect(names(toolSetOf({ tools: ['read_file', 'ask'] }, tools).offered)).toEqual([
      'read_file',
      'ask',
      'expand_message',
    ]);
    expect(names(toolSetOf({ tools: ['expand_message', 'ask'] }, tools).offered)).toEqual(['expand_message', 'ask']);
  });

  it('offers nothing to a run without tools', () => {
    expect(toolSetOf({ tools: [] }, tools).offered).toEqual([]);
  });

  it('knows tools that are not offered, and none that do not exist', () => {
    const set = toolSetOf({ tools: ['ask'] }, tools);

    expect(set.named('read_file')?.name).toBe('read_file');
    expect(set.named('fly')).toBeUndefined();
    expect(set.named('constructor')).toBeUndefined();
  });
});

describe('a snapshot of a tool set', () => {
  it('survives storage, and the restored set has the same snapshot', () => {
    const snapshot = snapshotOf(toolSetOf({ tools: ['http_request', 'execute_command', 'complete'] }, tools));
    const withForeign = {
      ...snapshot,
      tools: [...snapshot.tools, foreign],
      offered: [...snapshot.offered, foreign.name],
    };

    expect(stored(withForeign)).toEqual(withForeign);
    expect(snapshotOf(restoreToolSet(stored(snapshot), tools))).toEqual({
      ...snapshot,
    });
    expect(snapshotOf(restoreToolSet(stored(withForeign), tools))).toEqual(withForeign);
  });

  it('restores built-in tools with their code', () => {
    const set = restoreToolSet(stored(snapshotOf(toolSetOf({ tools: ['http_request'] }, tools))), tools);
    const request = { url: 'https://example.org/' };

    expect(effectOf(set.named('http_request'), { ...request, method: 'GET' })).toBe('pure');
    expect(effectOf(set.named('http_request'), { ...request, method: 'POST' })).toBe('unsafe');
    expect(set.named('list_commands')?.isWaiting?.('still running, since 1 s')).toBe(true);
  });

  it('shows the model what it showed before, after the catalog has changed', () => {
    const snapshot = snapshotOf(toolSetOf({ tools: ['read_file'] }, tools));
    const changed = tools.map((tool) => ({ ...tool, description: 'Something else.' }));
    const encode = (set: ReturnType<typeof restoreToolSet>) => dialectNamed('native').encode([], set.offered, settings);

    expect(encode(restoreToolSet(snapshot, changed)).tools).toEqual(
      encode(toolSetOf({ tools: ['read_file'] }, tools)).tools,
    );
  });

  it('restores a tool of a server from the snapshot alone, in every dialect', () => {
    const set = restoreToolSet(stored({ version: 1, tools: [foreign], offered: [foreign.name] }), tools);
    const tool = set.offered[0];
    if (!tool) throw new Error('it is offered');

    expect(effectOf(tool, { query: 'late' })).toBe('pure');
    expect(tool).toMatchObject({ timeoutMs: 5_000, runsIn: 'executor', source: { kind: 'mcp', server: 'tickets' } });
    expect([...parametersOf(tool).keys()]).toEqual(['query', 'limit']);
    expect(parametersOf(tool).get('limit')?.types.size).toBe(6);
    for (const dialect of ['native', 'xml_invoke', 'xml_tag', 'json'] as const) {
      expect(JSON.stringify(dialectNamed(dialect).encode([], set.offered, settings))).toContain('Search the tickets.');
    }
  });

  it.each<[string, Partial<ToolSetSnapshot>]>([
    ['a tool of a server that would run in the loop', { tools: [{ ...foreign, runs_in: 'loop' }] }],
    ['a name that stands twice', { tools: [foreign, foreign] }],
    ['an offered tool that it does not have', { offered: ['fly'] }],
  ])('is refused with %s', (_, part) => {
    expect(toolSetSnapshot.safeParse({ version: 1, tools: [foreign], offered: [], ...part }).success).toBe(false);
  });
});
