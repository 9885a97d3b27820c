import { type RunId, isTerminalFact, runId } from '@rondo/contract';
import { readQueuedRun, runsRead } from '../run/claim';
import { RunHarness, ScriptedModel, calls, says } from '../testing';

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const script = () => [calls(read), says('Done.'), says('In blue, then.'), says('And in French.'), says('Really.')];

const build = (settings = {}) => new RunHarness({ model: new ScriptedModel(script()), settings });

const tell = (harness: RunHarness, text: string): boolean =>
  harness.store.steer(harness.id, { queuedRun: toId(text), content: [{ type: 'text', text }] });

const toId = (text: string): RunId => runId.parse(`run_${text.replaceAll(/\W/g, '')}`);

/** The queued runs whose messages the run has read, in the order of its log. */
const readBy = ({ log }: RunHarness): RunId[] =>
  log.flatMap((fact) => (fact.type === 'message.created' ? (readQueuedRun(fact.data.message) ?? []) : []));

const unreadBy = ({ store, id }: RunHarness): RunId[] => store.waitingMessages(id).map(({ queuedRun }) => queuedRun);

const countReplies = ({ types }: RunHarness): number => types.filter((type) => type === 'iteration.completed').length;

describe('a message to a run at work', () => {
  it('is read before the next iteration, in the commit that begins it', async () => {
    const harness = build();
    let told = false;

    await harness.activate((step) => {
      if (told || !('facts' in step) || step.facts[0]?.type !== 'tool.started') return;
      told = tell(harness, 'In blue.') && tell(harness, 'And small.');
    });

    await harness.runOn();

    expect(readBy(harness)).toEqual([toId('In blue.'), toId('And small.')]);
    const second = harness.types.indexOf('iteration.started', harness.types.indexOf('iteration.completed'));
    expect(harness.types.slice(second - 3, second + 1)).toEqual([
      'iteration.completed',
      'message.created',
      'message.created',
      'iteration.started',
    ]);
    expect(harness.types.at(-1)).toBe('run.completed');
  });

  it.each([true, false])(
    'has a run go on whose reply would end it (the worker is told at once: %s)',
    async (isTold) => {
      const harness = build();
      harness.isTold = isTold;
      let told = false;

      await harness.activate((step) => {
        if (told || !('facts' in step) || step.facts[0]?.iteration !== 2) return;
        told = tell(harness, 'In blue.');
      });
      await harness.runOn();

      expect(readBy(harness)).toEqual([toId('In blue.')]);
      expect(countReplies(harness)).toBe(3);
      expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
    },
  );

  it('is left for a run of its own where no iteration is left', async () => {
    const harness = build({ limits: { max_iterations: 2 } });
    let told = false;

    await harness.activate((step) => {
      if (told || !('facts' in step) || step.facts[0]?.iteration !== 2) return;
      told = tell(harness, 'In blue.');
    });
    await harness.runOn();

    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
    expect(readBy(harness)).toEqual([]);
    expect(unreadBy(harness)).toEqual([toId('In blue.')]);
  });

  it('is left for a run of its own where the run is stopped', async () => {
    const harness = build();
    await harness.crashAt({ step: 6, position: 'after' });
    tell(harness, 'In blue.');
    harness.store.requestStop(harness.id, { requestedAt: '2030-01-01T00:00:00.000Z', reason: 'enough' });

    await harness.runOn();

    expect(harness.types.at(-1)).toBe('run.stopped');
    expect(unreadBy(harness)).toEqual([toId('In blue.')]);
  });

  it('that is withdrawn is not read, and the run ends as it would have', async () => {
    const harness = build();
    harness.isTold = false;
    let told = false;
    await harness.activate((step) => {
      if (told || !('facts' in step) || step.facts[0]?.iteration !== 2) return;
      told = tell(harness, 'In blue.');
    });
    harness.store.withdraw(toId('In blue.'), harness.id);

    await harness.runOn();

    expect(countReplies(harness)).toBe(2);
    expect(harness.types.filter((type) => type === 'run.completed')).toHaveLength(1);
  });

  it('that is withdrawn after a worker has left the run for it lets the run end with its last reply', async () => {
    const model = new ScriptedModel(script());
    const harness = new RunHarness({ model });
    await harness.activate((step) => {
      if (harness.drain.signal.aborted || !('facts' in step) || step.facts[0]?.iteration !== 2) return;
      tell(harness, 'In blue.');
      harness.drain.abort();
    });
    expect(harness.types.at(-1)).toBe('iteration.completed');
    harness.store.withdraw(toId('In blue.'), harness.id);

    await harness.activate();

    expect(model.requests).toHaveLength(2);
    expect(harness.log.at(-1)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'stop' } });
  });

  it('that is withdrawn in the moment in which it would be read takes no reply with it', async () => {
    const harness = build();
    let told = false;
    await harness.activate((step, at) => {
      if (!('facts' in step) || at === 'after') return;
      if (!told && step.facts[0]?.iteration === 2) told = tell(harness, 'In blue.');
      if (runsRead(step.facts).length > 0) harness.store.withdraw(toId('In blue.'), harness.id);
    });

    await harness.runOn();

    const replies = harness.log.filter(({ type }) => type === 'usage.recorded');
    expect(replies).toHaveLength(2);
    expect(harness.types.slice(-4)).toEqual([
      'message.created',
      'usage.recorded',
      'iteration.completed',
      'run.completed',
    ]);
  });
});

describe.each([true, false])('messages to a run whose workers are killed (told at once: %s)', (isTold) => {
  it('are read exactly once, or left for runs of their own, wherever the crash is', async () => {
    let steps = 0;
    await build().activate((_, at) => {
      if (at === 'after') steps++;
    });
    expect(steps).toBeGreaterThan(10);

    for (let told = 0; told <= steps; told++) {
      for (let crash = 0; crash <= steps + 4; crash++) {
        for (const position of ['before', 'after'] as const) {
          const harness = build();
          harness.isTold = isTold;
          let step = 0;
          const accepted: RunId[] = [];
          const onStep = () => {
            if (step++ === told && tell(harness, 'In blue.')) accepted.push(toId('In blue.'));
            if (step === told + 3 && tell(harness, 'In French.')) accepted.push(toId('In French.'));
          };
          await harness.crashAt({ step: crash, position, onStep });
          await harness.runOn();

          const about = `told at ${told}, crash ${position} ${crash}`;
          const ends = harness.log.filter(isTerminalFact).length;
          const found = [...readBy(harness), ...unreadBy(harness)];
          expect({ about, found, ends }).toEqual({ about, found: accepted, ends: 1 });
          expect({ about, unread: unreadBy(harness) }).toEqual({ about, unread: [] });
          const replies = harness.log.flatMap((fact) => (fact.type === 'iteration.completed' ? [fact.iteration] : []));
          expect({ about, replies }).toEqual({ about, replies: replies.map((_, index) => index + 1) });
        }
      }
    }
  });
});
