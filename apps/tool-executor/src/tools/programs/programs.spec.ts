import type { ProgramAnswer, ProgramRequest, ToolResult } from '@rondo/contract';
import { type CallOptions, ExecutorFixture, aCall } from '../../testing/executor-fixture';

type Language = 'node' | 'python';

const aProgram = (language: Language, source: string, options: CallOptions = {}) =>
  aCall('run_program', { language, source }, { timeoutMs: 6_000, ...options });

describe('run_program', () => {
  let fixture: ExecutorFixture;
  /** How many requests each step of the last program made. */
  let batches: number[];
  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  beforeEach(() => {
    batches = [];
  });
  afterAll(() => fixture.close());

  /** Answers the calls of a program until it ends. `between` is called before each time that it goes on. */
  async function finish(
    call: ReturnType<typeof aCall>,
    tool: (request: ProgramRequest) => Partial<ProgramAnswer> = ({ arguments: given }) => ({
      output: JSON.stringify(given),
    }),
    between: () => unknown = () => undefined,
  ): Promise<ToolResult> {
    const answers: ProgramAnswer[] = [];
    for (let attempt = 1; ; attempt += 1) {
      const reply = await fixture.reply({ ...call, attempt, ...(answers.length > 0 && { answers }) });
      if (reply.how !== 'answered') throw new Error(`The program was not answered but ${reply.how}.`);
      if (!reply.calls) return reply.result;
      expect(reply.calls.map(({ position }) => position)).toEqual(
        reply.calls.map((_, index) => answers.length + index),
      );
      batches.push(reply.calls.length);
      answers.push(
        ...reply.calls.map((request) => ({ digest: request.digest, success: true, output: '', ...tool(request) })),
      );
      await between();
    }
  }

  const loops: Record<Language, string> = {
    node: `
      let sum = 0;
      for (let n = 1; n <= 3; n++) sum += JSON.parse(await tools.echo({ n, text: 'é\\u2028"' })).n;
      console.log('counted');
      return { sum };`,
    python: `
import json
from rondo_tools import tools
total = 0
for n in range(1, 4):
    total += json.loads(tools.echo(n=n, text='é"'))["n"]
print("counted")
result = {"sum": total}`,
  };

  describe.each(['node', 'python'] as const)('in %s', (language) => {
    it('asks for one call after the other, and answers with what it printed and returned', async () => {
      const result = await finish(aProgram(language, loops[language]));

      expect(result).toEqual({
        success: true,
        exit_code: 0,
        output: expect.stringMatching(/^counted\n\{"sum": ?6\}$/) as unknown,
      });
      expect(batches).toEqual([1, 1, 1]);
    });

    it('gets the same answers when it is run again from its start, after each call', async () => {
      const restart = () => fixture.restart();

      const result = await finish(aProgram(language, loops[language]), undefined, restart);

      expect(result.output).toContain('6');
      expect(batches).toEqual([1, 1, 1]);
    });

    it('is told why a call failed', async () => {
      const source = {
        node: `try { await tools.echo({}); } catch (error) { return error.name + ': ' + error.message; }`,
        python: `
from rondo_tools import ToolError
try:
    tools.echo()
except ToolError as error:
    result = "ToolError: " + str(error)`,
      };

      const result = await finish(aProgram(language, source[language]), () => ({
        success: false,
        error: 'no such thing',
      }));

      expect(result.output).toBe('ToolError: no such thing');
    });

    it('shows the error that ended it, with its exit code', async () => {
      const source = { node: `throw new Error('out of luck')`, python: `raise Exception("out of luck")` };

      const result = await finish(aProgram(language, source[language]));

      expect(result).toMatchObject({ success: true, exit_code: 1 });
      expect(result.output).toContain('out of luck');
    });

    it('makes many calls at once, of which only so many are sent at a time', async () => {
      const source = {
        node: `return (await Promise.all(Array.from({ length: 25 }, (_, n) => tools.echo({ n })))).length;`,
        python: `result = len(gather(*[("echo", {"n": n}) for n in range(25)]))`,
      };

      expect((await finish(aProgram(language, source[language]))).output).toBe('25');
      expect(batches).toEqual([20, 5]);
    });
  });

  it('takes arguments and answers of hundreds of kilobytes', async () => {
    const source = `const text = await tools.echo({ text: 'ä'.repeat(100_000) }); return JSON.parse(text).text.length;`;

    expect((await finish(aProgram('node', source))).output).toBe('100000');
  });

  it('ends a program that makes another call when it is run again', async () => {
    const source = `await tools.echo({ at: process.hrtime.bigint().toString() }); await tools.echo({});`;

    const result = await finish(aProgram('node', source), undefined, () => fixture.restart());

    expect(result.success).toBe(false);
    expect(result.error).toContain('it made another call than before: its call 1 is now one of echo');
    expect(batches).toEqual([1]);
  });

  it('goes on with a program that waits, so that the time may be an argument', async () => {
    const source = `await tools.echo({ at: process.hrtime.bigint().toString() }); await tools.echo({}); return 'done';`;

    expect((await finish(aProgram('node', source))).output).toBe('done');
  });

  it('kills a program whose run is stopped', async () => {
    const stop = new AbortController();
    const call = aProgram('python', 'import time\nprint("begun", flush=True)\ntime.sleep(60)');
    const reply = fixture.reply(call, { signal: stop.signal });
    stop.abort(new Error('stopped'));

    expect(await reply).toMatchObject({ how: 'stopped', verified_dead_at: expect.any(String) as unknown });
  });
});
