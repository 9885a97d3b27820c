import { toNewRun } from './caller-tools.ts';

const handler = () => 'noon';

describe('the request of a run with handlers', () => {
  it('defines the tools that have a description, and their options', () => {
    const tools = { clock: { description: 'The time.', require_approval: true, handler }, execute_command: false };

    expect(toNewRun({ input: 'Go.', tools })).toEqual({
      input: 'Go.',
      tools: { clock: { require_approval: true }, execute_command: false },
      caller_tools: [{ name: 'clock', description: 'The time.' }],
    });
  });

  it('leaves the tools as the agent has them where it has only handlers', () => {
    expect(toNewRun({ input: 'Go.', tools: { clock: { handler } } })).toEqual({ input: 'Go.' });
  });

  it('leaves the own tools of the agent where it has only options', () => {
    const tools = { execute_command: { require_approval: true } };

    expect(toNewRun({ input: 'Go.', tools })).toEqual({ input: 'Go.', tools });
  });
});
