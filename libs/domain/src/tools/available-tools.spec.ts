import { availableTools, whyUnavailable } from './available-tools';
import { tools } from './catalog';

const named = (name: string) => tools.filter((tool) => tool.name === name);
const noSearch = { search_engine: 'No key.' };

describe('the tools that executors can run', () => {
  it('are all where they lack nothing', () => {
    expect(availableTools(tools, {})).toBe(tools);
    expect(availableTools(tools, { time_machine: 'Not invented.' })).toBe(tools);
  });

  it('are without those that need what they lack, under any name', () => {
    const available = availableTools(tools, noSearch).map(({ name }) => name);

    expect(available).not.toContain('web_search');
    expect(available).not.toContain('webSearch');
    expect(available).toHaveLength(tools.length - 2);
    expect(named('web_search').map((tool) => whyUnavailable(tool, noSearch))).toEqual(['No key.']);
    expect(named('read_file').map((tool) => whyUnavailable(tool, noSearch))).toEqual([undefined]);
  });

  it('are the same array for the same needs', () => {
    expect(availableTools(tools, noSearch)).toBe(availableTools(tools, { search_engine: 'Still none.' }));
    expect(availableTools(tools, noSearch)).not.toBe(availableTools(tools, { internet: 'No way out.' }));
  });
});
