import { iiAgentInit } from './ii-agent';

const findProblems = (tool_args: object): string[] | undefined =>
  iiAgentInit
    .safeParse({ model_name: 'demo/coder', tool_args })
    .error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);

describe('the tools that a client of II-Agent asks for', () => {
  it.each([{ memory_tool: 'compactify-memory' }, { memory_tool: 'none', pdf: true }, { video_generation: false }])(
    'are accepted where the agent decides, or where they are none: %j',
    (wanted) => {
      expect(findProblems(wanted)).toBeUndefined();
    },
  );

  it('are refused by name where there are none', () => {
    expect(findProblems({ video_generation: true })).toEqual([
      'tool_args.video_generation is not served: there is no such tool',
    ]);
  });
});
