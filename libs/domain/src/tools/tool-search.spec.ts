import type { RunSettings } from '@rondo/contract';
import { manyServerTools, serverTool } from '../testing/server-tools';
import { tools as builtIn } from './catalog';
import { callableTools, searchTools, listShownTools } from './tool-search';
import { toToolSet } from './tool-set';
import { readToolSpace } from './tool-space';
import { restoreToolSet, toSnapshot } from './tool-set-snapshot';

const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
const many = manyServerTools('crm', 400);
const create = serverTool('tickets__createTicket', 'Opens a new ticket for a customer.', { title: {} });
const close = serverTool('tickets__close_ticket', 'Closes it.');
const weather = serverTool('sky__forecast', 'The weather of a city, for people who travel with a ticket.');
const catalog = [...builtIn, ...many, create, close, weather];

const build = (settings: Partial<RunSettings> = {}, space?: Parameters<typeof toToolSet>[2]) =>
  toToolSet({ tools: ['ask'], ...settings }, catalog, space);

describe('the tools of servers that are more than fit', () => {
  it('are found with a tool that says which servers there are', () => {
    const set = build();

    expect(names(set.offered)).toEqual(['ask', 'tool_search', 'expand_message']);
    expect(set.named('tool_search')?.description).toContain(
      'Servers, and how many tools they have: crm (400), tickets (2), sky (1).',
    );
    expect(callableTools(set)).toHaveLength(406);
  });

  it('are offered at once where they fit, by their number and by their size', () => {
    const few = [...builtIn, create, close];
    expect(names(toToolSet({ tools: ['ask'] }, few).offered)).toContain('tickets__createTicket');
    expect(names(toToolSet({ tools: ['ask'] }, few, { tools: 3, tokens: 1_000 }).offered)).toContain('tool_search');
    expect(names(toToolSet({ tools: ['ask'] }, few, { tools: 9, tokens: 20 }).offered)).toContain('tool_search');
  });

  it('are searched or not as the settings say, and never by a run of a single decision', () => {
    const few = [...builtIn, create];
    expect(build({ tool_policies: { tool_search: { enabled: false } } }).search).toBeUndefined();
    expect(build({ termination: 'single_decision' }).search).toBeUndefined();
    expect(names(toToolSet({ tools: [], tool_policies: { tool_search: { enabled: true } } }, few).offered)).toEqual([
      'tool_search',
      'expand_message',
    ]);
    expect(names(toToolSet({ tools: ['tool_search', 'ask'] }, few).offered)).toEqual([
      'tool_search',
      'ask',
      'expand_message',
    ]);
  });

  it('are the same in a set that was restored', () => {
    const set = build();
    const restored = restoreToolSet(toSnapshot(set), builtIn);

    expect(names(listShownTools(restored, [create.name]))).toEqual(names(listShownTools(set, [create.name])));
    expect(restored.search?.capacity).toEqual(set.search?.capacity);
    expect(restored.named('tool_search')?.description).toContain('crm (400)');
  });

  it('have the space of the least of the models of a run', () => {
    const settings = { model: 'a/b', fallbacks: [{ model: 'c/d' }], context: {} } as unknown as RunSettings; // no more is read
    const parts = {
      maxTools: (model: string) => (model === 'a/b' ? 128 : 64),
      inputBudget: (model: string) => (model === 'a/b' ? 30_000 : 90_000),
    };

    expect(readToolSpace(settings, parts)).toEqual({ tools: 64, tokens: 3_000 });
  });
});

describe('shownTools', () => {
  it('adds what was loaded at the end, in its order, and nothing that there is not', () => {
    const shown = names(listShownTools(build(), ['sky__forecast', 'gone__tool', 'crm__do_7']));
    expect(shown).toEqual(['ask', 'tool_search', 'expand_message', 'sky__forecast', 'crm__do_7']);
  });

  it('leaves out what was loaded first once there is no more space for it', () => {
    const set = build({}, { tools: 5, tokens: 1_000 });
    expect(names(listShownTools(set, ['crm__do_1', 'crm__do_2', 'crm__do_3'])).slice(3)).toEqual([
      'crm__do_2',
      'crm__do_3',
    ]);
    const narrow = build({}, { tools: 100, tokens: 1 });
    expect(names(listShownTools(narrow, ['crm__do_1', 'crm__do_2'])).slice(3)).toEqual(['crm__do_2']);
  });
});

describe('searchTools', () => {
  const find = (query: string, limit = 5) => searchTools(build(), { query, limit }).found;

  it('finds by words of names, descriptions and parameters, those of names first', () => {
    expect(find('tickets')).toEqual(['tickets__createTicket', 'tickets__close_ticket', 'sky__forecast']);
    expect(find('Create a TICKET!')[0]).toBe('tickets__createTicket');
    expect(find('weather')).toEqual(['sky__forecast']);
    expect(find('title')).toEqual(['tickets__createTicket']);
  });

  it('finds a tool by its name, and no more than asked for', () => {
    expect(find('crm__do_399')[0]).toBe('crm__do_399');
    expect(find('crm', 3)).toEqual(['crm__do_0', 'crm__do_1', 'crm__do_2']);
  });

  it('says what was found, or which servers there are', () => {
    expect(searchTools(build(), { query: 'weather', limit: 5 }).result.output).toContain(
      '- sky__forecast: Tool of the server "sky". The weather of a city',
    );
    expect(searchTools(build(), { query: 'xylophone', limit: 5 })).toEqual({
      result: {
        success: true,
        output: 'No tool matches. There are tools of these servers: crm (400), tickets (2), sky (1).',
      },
      found: [],
    });
  });
});
