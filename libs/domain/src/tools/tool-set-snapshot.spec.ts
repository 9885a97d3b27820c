import { type ToolSetSnapshot, toolSetSnapshot } from '@rondo/contract';
import fc from 'fast-check';
import { dialectNamed } from '../dialects/registry';
import { effectiveSettings } from '../profiles/effective-settings';
import { builtInTools, tools } from './catalog';
import { toEffect } from './define-tool';
import { listParameters } from './tool-parameters';
import { type ToolSet, toToolSet } from './tool-set';
import { restoreToolSet, toSnapshot } from './tool-set-snapshot';

const effective = effectiveSettings({}, { model: 'demo/coder' });
if ('problems' in effective) throw new Error('the defaults are valid');
const settings = { ...effective.settings.processor, include_xml_examples: true };
const dialects = ['native', 'xml_invoke', 'xml_tag', 'json'] as const;

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
  source: { kind: 'mcp', server: 'tickets', tool: 'create', fingerprint: 'f1' },
};

const builtIn = toSnapshot(builtInTools).tools;

/** Snapshots as another version may have stored them: other texts, examples and mappings, other tools, other servers. */
const anySnapshot = fc
  .record({
    description: fc.string(),
    example: fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined }),
    content: fc.option(fc.string(), { nil: undefined }),
    foreign: fc.uniqueArray(
      fc.record({
        name: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).map((name) => `_${name}`.slice(0, 64)),
        description: fc.string({ unit: 'binary' }),
        properties: fc.dictionary(fc.string(), fc.dictionary(fc.string(), fc.jsonValue())),
        effect: fc.constantFrom('pure', 'idempotent', 'keyed', 'unsafe'),
        timeout_ms: fc.integer({ min: 1, max: 600_000 }),
      }),
      { selector: ({ name }) => name },
    ),
  })
  .map(({ description, example, content, foreign: servers }) => {
    const known = builtIn.map((tool) => ({
      ...tool,
      description,
      example,
      xml: content === undefined ? undefined : { content },
    }));
    const others = servers.map(({ properties, effect, ...tool }) => {
      return { ...foreign, ...tool, effect_class: effect, parameters: { type: 'object', properties } };
    });
    const all = [...known, ...others];
    return toolSetSnapshot.parse({ version: 1, tools: all, offered: all.map(({ name }) => name).reverse() });
  });

const stored = (snapshot: ToolSetSnapshot): ToolSetSnapshot =>
  toolSetSnapshot.parse(JSON.parse(JSON.stringify(snapshot)));

describe('a snapshot of a tool set', () => {
  it('survives storage, and the restored set has the same snapshot to the byte', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const text = JSON.stringify(snapshot);

        expect(JSON.stringify(stored(snapshot))).toBe(text);
        expect(JSON.stringify(toSnapshot(restoreToolSet(stored(snapshot), tools)))).toBe(text);
      }),
    );
  });

  it('restores built-in tools with their code', () => {
    const set = restoreToolSet(stored(toSnapshot(toToolSet({ tools: ['http_request'] }, tools))), tools);
    const request = { url: 'https://example.org/' };

    expect(toEffect(set.named('http_request'), { ...request, method: 'GET' })).toBe('pure');
    expect(toEffect(set.named('http_request'), { ...request, method: 'POST' })).toBe('unsafe');
    expect(set.named('list_commands')?.isWaiting?.('still running, since 1 s')).toBe(true);
  });

  it('shows the model what it showed before, after the catalog has changed', () => {
    const snapshot = toSnapshot(toToolSet({ tools: ['read_file'] }, tools));
    const changed = tools
      .filter(({ name }) => name !== 'expand_message')
      .map((tool) => ({ ...tool, description: 'Something else.', example: { path: 'else' }, xml: { tag: 'else' } }));

    for (const name of dialects) {
      const offer = (set: ToolSet) => JSON.stringify(dialectNamed(name).offer(set.offered, settings));
      expect(offer(restoreToolSet(snapshot, changed))).toBe(offer(toToolSet({ tools: ['read_file'] }, tools)));
    }
  });

  it('restores a tool of a server from the snapshot alone, in every dialect', () => {
    const set = restoreToolSet(stored({ version: 1, tools: [foreign], offered: [foreign.name] }), tools);
    const tool = set.offered[0];
    if (!tool) throw new Error('it is offered');

    expect(toEffect(tool, { query: 'late' })).toBe('pure');
    expect(tool).toMatchObject({ timeoutMs: 5_000, runsIn: 'executor', source: { kind: 'mcp', server: 'tickets' } });
    expect([...listParameters(tool).keys()]).toEqual(['query', 'limit']);
    expect(listParameters(tool).get('limit')?.types.size).toBe(6);
    for (const dialect of dialects) {
      expect(JSON.stringify(dialectNamed(dialect).offer(set.offered, settings))).toContain('Search the tickets.');
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
