import { RunHarness, ScriptedModel, calls, says } from '../testing';
import { forkPoint } from './fork-point';
import { replay } from './run-state';

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const write = { name: 'create_file', arguments: { file_path: 'a.txt', file_contents: 'x' } };
const ask = { name: 'ask', arguments: { text: 'Which?' } };

const recorded = async (turns: ConstructorParameters<typeof ScriptedModel>[0], answers = 0) => {
  const harness = new RunHarness({ model: new ScriptedModel(turns) });
  await harness.runOn();
  for (let given = 0; given < answers; given++) {
    harness.store.answer(harness.id, 'That one.');
    await harness.runOn();
  }
  return harness.log;
};

const runs = {
  'without tools': () => recorded([says('Done.')]),
  'with calls': () => recorded([calls(write), calls(read, read), says('Done.')]),
  'with a question': () => recorded([calls(read), calls(ask), calls(write), says('Done.')], 1),
  'that a question left waiting': () => recorded([calls(read), calls(ask)]),
};

describe.each(Object.entries(runs))('a fork of a run %s', (_, record) => {
  it('at every seq begins with the conversation that the origin had there, with every call answered (I6)', async () => {
    const log = await record();
    for (const { seq } of log) {
      const point = forkPoint(log, seq);
      const shared = log.slice(0, point.seq);
      const state = replay(shared);

      expect({ seq, phase: state.phase, ended: state.ended }).toEqual({ seq, phase: 'between', ended: false });
      expect(state).toEqual(point.state);
      expect(point.seq).toBeLessThanOrEqual(seq);
      expect(state.conversation).toEqual(replay(log).conversation.slice(0, state.conversation.length));
      const planned = shared.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call.id] : []));
      const answered = state.conversation.flatMap(({ content }) =>
        content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_call_id] : [])),
      );
      expect(answered.toSorted()).toEqual(planned.toSorted());
      expect(point.cutBack === null).toBe(point.seq === seq);
    }
  });

  it('at the place of a fork is that place', async () => {
    const log = await record();
    for (const { seq } of log) {
      const point = forkPoint(log, seq);
      expect(forkPoint(log, point.seq)).toEqual({ ...point, cutBack: null });
    }
  });
});

describe('the place of a fork', () => {
  it('says why fewer facts are shared', async () => {
    const log = await recorded([calls(read), calls(ask)]);
    const at = (type: string) => log.findLast((fact) => fact.type === type)?.seq ?? 0;

    const last = log.length;
    expect(forkPoint(log, last).cutBack).toBe(`seq ${last} is where the run waits`);
    expect(forkPoint(log, at('tool.planned')).cutBack).toContain(
      'inside iteration 2, whose calls are not all answered',
    );
    expect(forkPoint(log, at('iteration.started')).cutBack).toContain('inside the reply of iteration 2');
    const whole = await recorded([says('Done.')]);
    expect(forkPoint(whole, whole.length).cutBack).toContain('is the end of the run');
  });

  it('says whether only a new input continues the conversation', async () => {
    const log = await recorded([calls(read), calls(ask), says('Done.')], 1);
    const needs = (type: string, nth: number) => {
      const facts = log.filter((fact) => fact.type === type);
      return forkPoint(log, facts.at(nth)?.seq ?? 0).needsInput;
    };

    expect(forkPoint(log, 1).needsInput).toBe(true);
    expect(forkPoint(log, 2).needsInput).toBe(false);
    expect(needs('iteration.completed', 0)).toBe(false);
    expect(needs('iteration.completed', 1)).toBe(true);
    expect(needs('run.resumed', 0)).toBe(true);
    expect(forkPoint(log, (log.find(({ type }) => type === 'run.resumed')?.seq ?? 0) + 1).needsInput).toBe(false);
    expect(needs('iteration.completed', 2)).toBe(true);
  });
});
