import { type ToolCall, callId, runId } from '@rondo/contract';
import type { StoppedTool, ToolAnswer, Tools } from '../ports';
import { plannedCall } from './planned-call';

/** What happens to the calls of a test at the executor. */
export type ExecutorBehaviour =
  | { readonly prints: string }
  | { readonly fails: string }
  /** A first attempt takes effect, and its executor dies before it answers; a second one is answered with this. */
  | { readonly diesOnce: string }
  /** Runs until the call is stopped; the executor confirms its end, or is away by then. */
  | { readonly runsUntilStopped: 'confirmed' | 'unconfirmed' };

export interface ToolsFixture {
  /** The tools of a new holder of the run. The earlier holder's are closed. */
  holder(): Promise<Tools<object>>;
  listEffects(call: ToolCall): number;
  /** Resolves when the executor runs the call. */
  running(call: ToolCall): Promise<void>;
  /** What the run has left running; undefined when the executor cannot confirm that it is dead. */
  leaveRunning(processes: readonly StoppedTool[] | undefined): Promise<void>;
}

/** The bound of a stop, and some time for the test's own work. */
const stopBoundMs = 3_300;

/** What every Tools guarantees. The tools of the domain's tests and those over NATS pass the same tests. */
export const describeTools = (
  implementation: string,
  open: (behaviour: ExecutorBehaviour, run: ToolCall['run_id']) => Promise<ToolsFixture>,
): void => {
  describe(`${implementation} as Tools`, () => {
    it('answers a call with the result of the tool', async () => {
      const { tools, call, effects } = await opened({ prints: 'noon' });

      expect(await tools.execute(call, never())).toMatchObject(answered({ success: true, output: 'noon' }));
      expect(effects()).toBe(1);
    });

    it('resolves when the tool fails: a failure is an answer', async () => {
      const { tools, call } = await opened({ fails: 'No such file.' });

      expect(await tools.execute(call, never())).toMatchObject(answered({ success: false, error: 'No such file.' }));
    });

    it('finds the answer of a call that an earlier holder sent, and does not run it again (I5)', async () => {
      const { tools, call, effects, next } = await opened({ prints: 'once' });
      const { store } = await sent(tools, call);

      const found = await (await next()).reattach({ call, store }, never());

      expect(found).toMatchObject(answered({ output: 'once' }));
      expect(effects()).toBe(1);
    });

    it('sends a call that the earlier holder never sent, if its store has lost nothing', async () => {
      const { tools, call, effects, next } = await opened({ prints: 'at last' });
      const { store } = await sent(tools, anotherCall(call));

      const answer = await (await next()).reattach({ call, store }, never());

      expect(answer).toMatchObject(answered({ output: 'at last' }));
      expect(effects()).toBe(1);
    });

    it('answers unknown for a call without a record, if its store is not known, and does not send it (I5)', async () => {
      const { tools, call, effects } = await opened({ prints: 'never' });

      expect(await tools.reattach({ call, store: null }, never())).toMatchObject({ how: 'unknown' });
      expect(effects()).toBe(0);
    });

    it('answers unknown when the executor dies while it runs the call, also to a later holder (I5)', async () => {
      const { tools, call, effects, next } = await opened({ diesOnce: 'done' });

      const { answer, store } = await sent(tools, call);
      const found = await (await next()).reattach({ call, store }, never());

      expect([answer, found]).toMatchObject([{ how: 'unknown' }, { how: 'unknown' }]);
      expect(effects()).toBe(1);
    });

    it('runs the next attempt of a call whose outcome is unknown', async () => {
      const { tools, call, effects } = await opened({ diesOnce: 'done' });
      await tools.execute(call, never());

      const second = await tools.execute({ ...call, attempt: 2 }, never());

      expect(second).toMatchObject(answered({ output: 'done' }));
      expect(effects()).toBe(2);
    });

    it('answers a later attempt with the answer of an earlier one, and does not run it again (I5)', async () => {
      const { tools, call, effects } = await opened({ prints: 'once' });
      await tools.execute(call, never());

      expect(await tools.execute({ ...call, attempt: 2 }, never())).toMatchObject(answered({ output: 'once' }));
      expect(effects()).toBe(1);
    });

    it('sends nothing when the signal was aborted before (I7)', async () => {
      const { tools, call, effects } = await opened({ prints: 'never' });

      const answer = await tools.execute(call, AbortSignal.abort());

      expect(answer).toMatchObject({ how: 'stopped', verifiedDeadAt: expect.any(String) as unknown });
      expect(effects()).toBe(0);
    });

    it.each([
      ['confirmed', (answer: ToolAnswer<object>) => answer.how === 'stopped' && answer.verifiedDeadAt !== null],
      ['unconfirmed', (answer: ToolAnswer<object>) => answer.how === 'stopped' && answer.verifiedDeadAt === null],
    ] as const)('stops a running call within the bound, its end %s (I7)', async (runsUntilStopped, isExpected) => {
      const { tools, call, fixture } = await opened({ runsUntilStopped });
      const stop = new AbortController();
      const answer = tools.execute(call, stop.signal);
      await fixture.running(call);

      const stoppedAtMs = performance.now();
      stop.abort();

      expect(isExpected(await answer)).toBe(true);
      expect(performance.now() - stoppedAtMs).toBeLessThan(stopBoundMs);
    });

    it('stops a call that an earlier holder left running (I7)', async () => {
      const { tools, call, fixture, effects, next } = await opened({ runsUntilStopped: 'confirmed' });
      void tools.execute(call, never()).catch(() => undefined); // its holder is closed
      await fixture.running(call);

      const answer = await (await next()).reattach({ call, store: tools.store }, AbortSignal.abort());

      expect(answer).toMatchObject({ how: 'stopped', verifiedDeadAt: expect.any(String) as unknown });
      expect(effects()).toBe(1);
    });

    it('ends what the run has left running, and returns what it was', async () => {
      const { tools, call, fixture } = await opened({ prints: 'done' });
      const left = [{ tool_call_id: call.id, verified_dead_at: '2030-01-01T00:00:00.000Z', processes: ['node'] }];
      await fixture.leaveRunning(left);

      expect(await tools.endRun(3_000)).toEqual(left);
    });

    it('does not confirm the end of a run whose processes may still run (I7)', async () => {
      const { tools, fixture } = await opened({ prints: 'done' });
      await fixture.leaveRunning(undefined);

      expect(await tools.endRun(3_000)).toBeUndefined();
    });
  });

  async function opened(behaviour: ExecutorBehaviour) {
    const call = newCall();
    const fixture = await open(behaviour, call.run_id);
    const tools = await fixture.holder();
    return { fixture, tools, call, effects: () => fixture.listEffects(call), next: () => fixture.holder() };
  }
};

let lastNumber = 0;

/** Ids are unique, since fixtures may share a server. */
function newCall(): ToolCall {
  lastNumber += 1;
  const name = `contract${lastNumber}`;
  return plannedCall({ id: callId.parse(`call_${name}`), run_id: runId.parse(`run_${name}`), attempt: 1 });
}

const anotherCall = (call: ToolCall): ToolCall => ({ ...call, id: newCall().id });

const never = (): AbortSignal => new AbortController().signal;

const answered = (result: object): object => ({ how: 'answered', result });

/** Sends a call as a holder does: it notes the store, which is known by the time it has an answer. */
async function sent(tools: Tools<object>, call: ToolCall) {
  const answer = await tools.execute(call, never());
  return { answer, store: tools.store };
}
