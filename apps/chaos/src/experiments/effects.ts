import { type Experiment, findingsOf } from '../experiment';
import { type Bar, always, never } from '../scorecard/findings';
import { type Examination, examine } from '../stage/examine';
import { callsWith, plannedEffects } from '../stage/planned-effects';
import { resolveAsAsked } from '../stage/resolver-bot';
import { repeated, runAll } from '../stage/run-work';
import type { Stage } from '../stage/stage';
import { type Work, keyedCall, scriptedWork, unsafeCall, unsafeCommand } from '../stage/work';

const sizes = { full: { runs: 20, parked: 10, atOnce: 10 }, small: { runs: 3, parked: 2, atOnce: 5 } };
const faults = ['drop', 'late', 'error'] as const;
/** After these nobody was told what became of the effect. */
const silent = ['drop', 'late'];

export const effects: Experiment = {
  name: 'effects',
  title:
    'The effect server commits, and then drops the connection, answers after the caller has given up, or says 500. Each ' +
    'run calls it unsafely and under a key in each of these ways. Then runs park on what is unknown, and a bot answers for ' +
    'a person: it asks the effect server, as a careful person would.',

  async run(stage, scale) {
    const size = sizes[scale.name];
    const reporting = repeated('report', size.runs, (tag) => everyFault(stage, tag));
    const parking = repeated('park', size.parked, (tag) => oneThatParks(stage, tag));
    const pace = { atOnce: size.atOnce, withinMs: scale.quietMs };
    const reported = await runAll(stage, reporting, pace);
    const parked = await runAll(stage, parking, pace);
    const asked = parked.filter(({ settled }) => settled?.status.startsWith('waiting_')).length;
    for (const run of parked) await resolveAsAsked(stage, run, scale.quietMs);
    stage.faults.note('reply dropped, late or 500', 'effect-server');

    const examination = await examine(stage, [...reported, ...parked]);
    return findingsOf(stage, examination, {
      size: `${size.runs} runs × ${faults.length} faults × unsafe and keyed requests and one command; ${size.parked} runs that park`,
      bars: [
        ...barsOf(stage, examination),
        always('runs that asked a person about the unknown call', { times: asked, of: size.parked }),
      ],
    });
  },
};

const everyFault = (stage: Stage, tag: string): Work =>
  scriptedWork(
    tag,
    [
      {
        calls: [
          ...faults.flatMap((behaviour) => [
            unsafeCall(stage.effects, { tag: `${tag}/${behaviour}/unsafe`, behaviour }),
            keyedCall(stage.effects, { tag: `${tag}/${behaviour}/keyed`, behaviour }),
          ]),
          unsafeCommand(stage.effects, { tag: `${tag}/command/unsafe`, behaviour: 'drop' }),
        ],
      },
      { text: 'All said.' },
    ],
    { limits: { tool_timeout_s: 3 } },
  );

const oneThatParks = (stage: Stage, tag: string): Work =>
  scriptedWork(
    tag,
    [{ calls: [unsafeCall(stage.effects, { tag: `${tag}/drop/unsafe`, behaviour: 'drop' })] }, { text: 'All said.' }],
    { processor: { unknown_outcome: 'park' } },
  );

function barsOf(stage: Stage, { runs }: Examination): Bar[] {
  const applied = stage.effects.ledger.applied();
  const requests = (tag: string) => stage.effects.ledger.requests.filter((request) => request.tag === tag).length;
  const calls = runs.flatMap(({ facts }) => {
    const [unknown, completed] = [callsWith(facts, 'tool.unknown'), callsWith(facts, 'tool.completed')];
    return plannedEffects(facts).map((effect) => ({
      ...effect,
      isKeyed: effect.tag.endsWith('/keyed'),
      isUnknown: unknown.has(effect.callId),
      isCompleted: completed.has(effect.callId),
    }));
  });
  const keyed = calls.filter(({ isKeyed }) => isKeyed);
  const unsafe = calls.filter(({ isKeyed }) => !isKeyed);
  const unheard = unsafe.filter(({ behaviour, tag }) => silent.includes(behaviour) && !tag.includes('/command/'));
  const once = (some: typeof calls) => some.filter(({ tag }) => applied.get(tag) === 1).length;
  return [
    always('keyed calls with exactly 1 effect', { times: once(keyed), of: keyed.length }),
    always('keyed calls that completed', {
      times: keyed.filter(({ isCompleted }) => isCompleted).length,
      of: keyed.length,
    }),
    always('unsafe calls with exactly 1 effect', { times: once(unsafe), of: unsafe.length }),
    never('unsafe requests sent again blindly', unsafe.filter(({ tag }) => requests(tag) > 1).length),
    always('unsafe requests without an answer called unknown', {
      times: unheard.filter(({ isUnknown }) => isUnknown).length,
      of: unheard.length,
    }),
  ];
}
