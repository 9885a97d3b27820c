import { callId } from '@rondo/contract';
import type { Step } from './loop-context';
import type { StoppedTool, ToolAnswer, Tools } from '../ports';
import { outOfTime } from '../run/time-left';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';

const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: 'enough' };
const command = { name: 'execute_command', arguments: { command: 'sleep 100', blocking: true } };

/** The gateway commits the stop, then its signal reaches the worker. */
const stopNow = (house: RunHarness): void => {
  house.store.requestStop(house.id, stop);
  house.stop.abort(stop);
};

describe('a stop (I7)', () => {
  it('ends a run that has not begun, without asking the model', async () => {
    const model = new ScriptedModel([says('Never said.')]);
    const house = new RunHarness({ model });
    house.store.requestStop(house.id, stop);

    await house.activate();

    expect(model.requests).toHaveLength(0);
    expect(house.store.status(house.id)).toBe('stopped');
  });

  it('closes the model stream and keeps the text that was shown', async () => {
    const house = new RunHarness({ model: new ScriptedModel([says('One two three four')]) });

    await house.activate((step) => {
      if ('delta' in step && house.deltas.length === 7) stopNow(house);
    });

    const shown = house.deltas.map(({ text }) => text).join('');
    expect(house.state.conversation.at(-1)).toMatchObject({ content: [{ text: shown }], metadata: { partial: true } });
    expect(house.log.at(-1)).toMatchObject({
      type: 'run.stopped',
      data: {
        reason: 'enough',
        receipt: {
          requested_at: stop.requestedAt,
          model_aborted_at: expect.any(String) as string,
          tokens_after_stop: 0,
          sandbox_verified_at: null,
        },
      },
    });
  });

  it('says when it closed a stream that had not said anything yet', async () => {
    const house: RunHarness = new RunHarness({
      model: {
        async *stream(_, signal) {
          stopNow(house);
          if (signal.aborted) yield [{ type: 'end' as const, how: 'aborted' as const }];
        },
      },
    });

    await house.activate();

    expect(house.types).not.toContain('message.delta');
    expect(house.log.at(-1)).toMatchObject({
      type: 'run.stopped',
      data: { receipt: { model_aborted_at: expect.any(String) as string, tokens_after_stop: 0 } },
    });
  });

  it('kills the tool that runs, says when it was dead, and leaves no call without a result (I6, R29)', async () => {
    const verifiedDeadAt = '2026-01-01T00:00:01.000Z';
    const model = new ScriptedModel([calls(command, command)]);
    const house: RunHarness = new RunHarness({
      model,
      tools: hangsUntilStopped({ how: 'stopped', verifiedDeadAt }, (running) => running === 2 && stopNow(house)),
    });

    await house.activate();

    const receipt = house.log.at(-1)?.data as { receipt: { tools_stopped: { verified_dead_at: string }[] } };
    expect(receipt.receipt.tools_stopped.map((tool) => tool.verified_dead_at)).toEqual([
      verifiedDeadAt,
      verifiedDeadAt,
    ]);
    expect(house.types.filter((type) => type === 'tool.failed')).toHaveLength(2);
  });

  const leftBy = (left: readonly StoppedTool[] | undefined) => {
    const tools = Object.assign(new LedgeredTools(), { endRun: jest.fn(() => Promise.resolve(left)) });
    const house: RunHarness = new RunHarness({
      model: new ScriptedModel([calls({ ...command, arguments: { command: 'npm run dev' } }), says('It runs.')]),
      tools,
    });
    const receipt = () => (house.log.at(-1)?.data as { receipt: Record<string, unknown> }).receipt;
    return { house, tools, receipt };
  };
  const whileItSpeaks = (house: RunHarness) => (step: Step) => {
    if ('delta' in step && step.delta.type === 'message.delta' && !house.stop.signal.aborted) stopNow(house);
  };

  it('ends what the run has left running when no call runs, and lists it', async () => {
    const left = {
      tool_call_id: callId.parse('call_1'),
      verified_dead_at: '2026-01-01T00:00:01.000Z',
      processes: ['node'],
    };
    const { house, receipt } = leftBy([left]);

    await house.activate(whileItSpeaks(house));

    expect(receipt()).toMatchObject({ tools_stopped: [left], sandbox_verified_at: left.verified_dead_at });
  });

  it('says that it does not know when it was not confirmed that nothing is left running', async () => {
    const { house, receipt } = leftBy(undefined);

    await house.activate(whileItSpeaks(house));

    expect(receipt()).toMatchObject({ tools_stopped: [], sandbox_verified_at: null });
  });

  it('asks no executor where the run has run no command', async () => {
    const tools = Object.assign(new LedgeredTools(), { endRun: jest.fn(() => Promise.resolve([])) });
    const house: RunHarness = new RunHarness({ model: new ScriptedModel([says('One two')]), tools });

    await house.activate(whileItSpeaks(house));

    expect(house.types.at(-1)).toBe('run.stopped');
    expect(tools.endRun).not.toHaveBeenCalled();
  });

  it('says that it does not know when nobody confirmed the kill', async () => {
    const house: RunHarness = new RunHarness({
      model: new ScriptedModel([calls(command)]),
      tools: hangsUntilStopped({ how: 'stopped', verifiedDeadAt: null }, () => stopNow(house)),
    });

    await house.activate();

    expect(house.types).toContain('tool.unknown');
    expect(house.types.at(-1)).toBe('run.stopped');
  });

  it('is how a run ends whose time is over, only that it has failed then', async () => {
    const house: RunHarness = new RunHarness({
      model: new ScriptedModel([calls(command, command)]),
      tools: hangsUntilStopped(
        { how: 'stopped', verifiedDeadAt: stop.requestedAt },
        (running) => running === 2 && house.stop.abort(outOfTime(house.settings)),
      ),
    });

    await house.activate();

    expect(house.types.filter((type) => type === 'tool.failed')).toHaveLength(2);
    expect(house.log.at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: 'max_duration_exceeded' } } });
  });

  it('does not run what was planned but not yet sent', async () => {
    const tools = new LedgeredTools();
    const house = new RunHarness({ model: new ScriptedModel([calls(command)]), tools });

    await house.activate((step, position) => {
      const planned = 'facts' in step && step.facts.some(({ type }) => type === 'tool.planned');
      if (planned && position === 'before') stopNow(house);
    });

    expect(tools.effects.size).toBe(0);
    expect(house.types).not.toContain('tool.started');
    expect(house.types.at(-1)).toBe('run.stopped');
  });
});

function hangsUntilStopped(answer: ToolAnswer, onRunning: (running: number) => unknown): Tools {
  let running = 0;
  const hang = (_: unknown, signal: AbortSignal) =>
    new Promise<ToolAnswer>((resolve) => {
      signal.addEventListener('abort', () => resolve(answer));
      onRunning(++running);
    });
  return { store: null, execute: hang, reattach: hang, endRun: () => Promise.resolve([]) };
}
