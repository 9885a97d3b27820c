import { EventEmitter, once } from 'node:events';
import { type CallToSend, type SentCall, type ToolAnswer, type Tools } from '@rondo/domain';
import { RunHarness, ScriptedModel, calls, says } from '@rondo/domain/testing';
import { newUlid } from '@rondo/platform';
import { ExecutorFixture, aCall } from '../../testing/executor-fixture';

const steps = [1, 2, 3, 4];
const source = `
for step in range(1, 5):
    try:
        tools.execute_command(command=f"echo {step} >> effects; echo begun; sleep 0.2", blocking=True)
        print(f"did {step}")
    except ToolError as error:
        print(f"lost {step}")
result = tools.execute_command(command="cat effects; rm effects", blocking=True)`;

/** An executor with real sandboxes that dies while commands run: a call is found again by its attempt, and a lost one is unknown. */
class MortalTools implements Tools {
  readonly store = 'store';
  private readonly answers = new Map<string, Promise<ToolAnswer>>();
  private readonly thread = `thr_${newUlid()}`; // ids of calls are counted anew in each run
  private commands = 0;

  constructor(
    private readonly fixture: ExecutorFixture,
    /** The commands during which it dies. */
    private readonly dying: readonly number[],
  ) {}

  execute(call: CallToSend): Promise<ToolAnswer> {
    const key = `${call.id} ${call.attempt}`;
    const answer = this.answers.get(key) ?? this.run(call);
    this.answers.set(key, answer);
    return answer;
  }

  reattach({ call }: SentCall): Promise<ToolAnswer> {
    return this.execute(call);
  }

  endRun(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  private async run({ id, name, arguments: given, attempt, answers }: CallToSend): Promise<ToolAnswer> {
    if (name === 'execute_command') this.commands += 1;
    const isLast = name === 'execute_command' && this.dying.includes(this.commands);
    const call = {
      ...aCall(name, given, { thread: this.thread }),
      call_id: id,
      attempt,
      ...(answers && { answers: [...answers] }),
    };
    const begun = new EventEmitter();
    const reply = this.fixture.reply(call, { output: () => begun.emit('output') });
    if (isLast) {
      await once(begun, 'output');
      await this.fixture.restart();
      await reply;
      return { how: 'unknown', reason: 'The executor died while the tool ran.' };
    }
    const told = await reply;
    if (told.how !== 'answered') throw new Error(`The call was not answered but ${told.how}.`);
    if (told.calls) return { how: 'calls', requests: told.calls };
    const { browser: _browser, image: _image, ...result } = told.result;
    return { how: 'answered', result, durationMs: told.duration_ms };
  }
}

describe('a run with a program in a real sandbox', () => {
  let fixture: ExecutorFixture;
  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  const build = (dying: readonly number[] = []) =>
    new RunHarness({
      model: new ScriptedModel([
        calls({ name: 'run_program', arguments: { language: 'python', source } }),
        says('All done.'),
      ]),
      tools: new MortalTools(fixture, dying),
      settings: { tools: { code: true } },
    });

  const readOutput = ({ log }: RunHarness): string[] =>
    log.flatMap((fact) =>
      fact.type === 'tool.completed' && fact.data.name === 'run_program'
        ? fact.data.result.output.trim().split('\n')
        : [],
    );

  it.each(steps)('has no effect twice when the executor dies during its call %i (I5)', async (step) => {
    const harness = build([step]);

    await harness.runOn();

    const words = steps.map((one) => (one === step ? `lost ${one}` : `did ${one}`));
    expect(readOutput(harness)).toEqual([...words, ...steps.map(String)]);
  });

  it('has no effect twice when the worker dies before or after a write (I2, I4, I5)', async () => {
    let writes = 0;
    await build().activate((_, at) => {
      if (at === 'after') writes += 1;
    });
    expect(writes).toBeGreaterThan(10);

    for (let step = 0; step < writes; step += 5) {
      const harness = build();
      await harness.crashAt({ step, position: step % 10 === 0 ? 'before' : 'after' });
      await harness.runOn();
      expect(readOutput(harness)).toEqual([...steps.map((one) => `did ${one}`), ...steps.map(String)]);
    }
  });
});
