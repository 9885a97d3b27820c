import { callId, isTerminalFact, runId } from '@rondo/contract';
import { outOfTime } from '../budget/run-limits';
import type { StopRequest } from '../errors';
import type { Step } from '../loop-context';
import type { StoppedChild, StoppedTool, ToolAnswer, Tools } from '../ports';
import { LedgeredTools, RunHarness, ScriptedModel, calls, says } from '../testing';
import { InMemoryChildRuns } from '../testing/in-memory-child-runs';

const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: 'enough' };
const command = { name: 'execute_command', arguments: { command: 'sleep 100', blocking: true } };

/** The gateway commits the stop, then its signal reaches the worker. */
const stopNow = (harness: RunHarness, given: StopRequest = stop): void => {
  harness.store.requestStop(harness.id, given);
  harness.stop.abort(given);
};
const failing = { ...stop, error: 'The disk of the customer is full.' };

describe('a stop (I7)', () => {
  it('ends a run that has not begun, without asking the model', async () => {
    const model = new ScriptedModel([says('Never said.')]);
    const harness = new RunHarness({ model });
    harness.store.requestStop(harness.id, stop);

    await harness.activate();

    expect(model.requests).toHaveLength(0);
    expect(harness.store.status(harness.id)).toBe('stopped');
  });

  it('ends a run as failed where it names an error, with the receipt of what it did', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([says('One two three four')]) });

    await harness.activate((step) => {
      if ('delta' in step && harness.deltas.length === 7) stopNow(harness, failing);
    });

    expect(harness.store.status(harness.id)).toBe('failed');
    const { error: message, requestedAt: requested_at } = failing;
    expect(harness.log.at(-1)).toMatchObject({
      type: 'run.failed',
      data: {
        error: { code: 'stopped_with_error', message, status: 500 },
        receipt: { requested_at, model_aborted_at: expect.any(String) as string },
      },
    });
    expect(harness.state.conversation.at(-1)).toMatchObject({ metadata: { partial: true } });
  });

  it('ends a run as failed wherever its worker is killed, and answers its calls', async () => {
    for (let step = 0; step < 12; step++) {
      const harness = new RunHarness({ model: new ScriptedModel([calls(command), says('Done.')]) });
      await harness.crashAt({ step, position: 'after' });
      harness.store.requestStop(harness.id, failing);

      await harness.runOn();

      expect(harness.log.filter(isTerminalFact).map(({ type }) => type)).toEqual(['run.failed']);
      const planned = harness.types.filter((type) => type === 'tool.planned');
      const told = harness.types.filter((type) => ['tool.completed', 'tool.failed', 'tool.unknown'].includes(type));
      expect(told).toHaveLength(planned.length);
    }
  });

  it('is listened for no longer than the run is active', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([says('Done.')]) });
    const [added, removed] = (['addEventListener', 'removeEventListener'] as const).map((name) =>
      jest.spyOn(harness.stop.signal, name),
    );

    await harness.crashAt({ step: 1, position: 'after' });
    await harness.runOn();
    const listeners = added?.mock.calls.map(([, listener]) => listener);

    expect(removed?.mock.calls.map(([, listener]) => listener)).toEqual(listeners);
  });

  it('closes the model stream and keeps the text that was shown', async () => {
    const harness = new RunHarness({ model: new ScriptedModel([says('One two three four')]) });

    await harness.activate((step) => {
      if ('delta' in step && harness.deltas.length === 7) stopNow(harness);
    });

    const shown = harness.deltas.map(({ text }) => text).join('');
    expect(harness.state.conversation.at(-1)).toMatchObject({
      content: [{ text: shown }],
      metadata: { partial: true },
    });
    expect(harness.log.at(-1)).toMatchObject({
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

  it('records when it closed a stream that had no output yet', async () => {
    const harness: RunHarness = new RunHarness({
      model: {
        async *stream(_, signal) {
          stopNow(harness);
          if (signal.aborted) yield [{ type: 'end' as const, how: 'aborted' as const }];
        },
      },
    });

    await harness.activate();

    expect(harness.types).not.toContain('message.delta');
    expect(harness.log.at(-1)).toMatchObject({
      type: 'run.stopped',
      data: { receipt: { model_aborted_at: expect.any(String) as string, tokens_after_stop: 0 } },
    });
  });

  it('kills running tools, records when they were dead, and leaves no call without a result (I6)', async () => {
    const verifiedDeadAt = '2026-01-01T00:00:01.000Z';
    const model = new ScriptedModel([calls(command, command)]);
    const harness: RunHarness = new RunHarness({
      model,
      tools: hangsUntilStopped(
        { how: 'stopped', verifiedDeadAt, durationMs: 1_234 },
        (running) => running === 2 && stopNow(harness),
      ),
    });

    await harness.activate();

    const receipt = harness.log.at(-1)?.data as { receipt: { tools_stopped: { verified_dead_at: string }[] } };
    expect(receipt.receipt.tools_stopped.map((tool) => tool.verified_dead_at)).toEqual([
      verifiedDeadAt,
      verifiedDeadAt,
    ]);
    const failures = harness.log.filter(({ type }) => type === 'tool.failed');
    expect(failures.map(({ data }) => (data as { duration_ms: number }).duration_ms)).toEqual([1_234, 1_234]);
  });

  const leftBy = (left: readonly StoppedTool[] | undefined) => {
    const tools = Object.assign(new LedgeredTools(), { endRun: jest.fn(() => Promise.resolve(left)) });
    const harness: RunHarness = new RunHarness({
      model: new ScriptedModel([calls({ ...command, arguments: { command: 'npm run dev' } }), says('It runs.')]),
      tools,
    });
    const receipt = () => (harness.log.at(-1)?.data as { receipt: Record<string, unknown> }).receipt;
    return { harness, tools, receipt };
  };
  const whileItSpeaks = (harness: RunHarness) => (step: Step) => {
    if ('delta' in step && step.delta.type === 'message.delta' && !harness.stop.signal.aborted) stopNow(harness);
  };

  it('ends background processes of the run and lists them in the receipt', async () => {
    const left = {
      tool_call_id: callId.parse('call_1'),
      verified_dead_at: '2026-01-01T00:00:01.000Z',
      processes: ['node'],
    };
    const { harness, receipt } = leftBy([left]);

    await harness.activate(whileItSpeaks(harness));

    expect(receipt()).toMatchObject({ tools_stopped: [left], sandbox_verified_at: left.verified_dead_at });
  });

  it('waits for a receipt of all that it ends at once, three seconds from the stop at most', async () => {
    const model = new ScriptedModel([
      calls(command, { name: 'run_agent', arguments: { agent: 'helper', input: 'Go.' } }),
    ]);
    const within: number[] = [];
    let isEnding = false;
    const tools = hangsUntilStopped({ how: 'stopped', verifiedDeadAt: stop.requestedAt }, () => stopNow(harness));
    tools.endRun = (ms) => {
      within.push(ms);
      isEnding = true;
      return Promise.resolve().then(() => ((isEnding = false), undefined));
    };
    const children = new InMemoryChildRuns();
    const child: StoppedChild = { run_id: runId.parse('run_frozen'), ended_at: null };
    const stopAll = (ms: number) => {
      within.push(ms);
      expect(isEnding).toBe(true);
      return Promise.resolve([child]);
    };
    Object.assign(children, { stopAll });
    const harness: RunHarness = new RunHarness({
      ...{ model, tools, tickMs: 100, extra: { children } },
      settings: { tools: { execute_command: true, run_agent: true } },
    });

    await harness.activate();

    expect(within).toHaveLength(2);
    for (const ms of within) {
      expect(ms).toBeLessThan(3_000);
      expect(ms).toBeGreaterThan(0);
    }
    expect(harness.log.at(-1)).toMatchObject({
      type: 'run.stopped',
      data: { receipt: { child_runs_stopped: [child], sandbox_verified_at: null } },
    });
  });

  it('records no time of death when the end of background processes was not confirmed', async () => {
    const { harness, receipt } = leftBy(undefined);

    await harness.activate(whileItSpeaks(harness));

    expect(receipt()).toMatchObject({ tools_stopped: [], sandbox_verified_at: null });
  });

  it('does not ask the executor to end a run that ran no command', async () => {
    const tools = Object.assign(new LedgeredTools(), { endRun: jest.fn(() => Promise.resolve([])) });
    const harness: RunHarness = new RunHarness({ model: new ScriptedModel([says('One two')]), tools });

    await harness.activate(whileItSpeaks(harness));

    expect(harness.types.at(-1)).toBe('run.stopped');
    expect(tools.endRun).not.toHaveBeenCalled();
  });

  it('reports a call as unknown when its kill was not confirmed', async () => {
    const harness: RunHarness = new RunHarness({
      model: new ScriptedModel([calls(command)]),
      tools: hangsUntilStopped({ how: 'stopped', verifiedDeadAt: null }, () => stopNow(harness)),
    });

    await harness.activate();

    expect(harness.types).toContain('tool.unknown');
    expect(harness.types.at(-1)).toBe('run.stopped');
  });

  it('kills running tools of a run whose time is over, which then fails', async () => {
    const harness: RunHarness = new RunHarness({
      model: new ScriptedModel([calls(command, command)]),
      tools: hangsUntilStopped(
        { how: 'stopped', verifiedDeadAt: stop.requestedAt },
        (running) => running === 2 && harness.stop.abort(outOfTime(harness.settings)),
      ),
    });

    await harness.activate();

    expect(harness.types.filter((type) => type === 'tool.failed')).toHaveLength(2);
    expect(harness.log.at(-1)).toMatchObject({
      type: 'run.failed',
      data: { error: { code: 'max_duration_exceeded' } },
    });
  });

  it('does not run calls that were planned but not sent', async () => {
    const tools = new LedgeredTools();
    const harness = new RunHarness({ model: new ScriptedModel([calls(command)]), tools });

    await harness.activate((step, position) => {
      const planned = 'facts' in step && step.facts.some(({ type }) => type === 'tool.planned');
      if (planned && position === 'before') stopNow(harness);
    });

    expect(tools.effects.size).toBe(0);
    expect(harness.types).not.toContain('tool.started');
    expect(harness.types.at(-1)).toBe('run.stopped');
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
