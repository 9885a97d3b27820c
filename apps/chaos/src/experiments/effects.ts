import { type Experiment, toFindings } from '../experiment';
import { type Bar, always, never } from '../scorecard/findings';
import { type Examination, examine } from '../test-bed/examine';
import { callsWith, listPlannedEffects } from '../test-bed/planned-effects';
import { type LaunchedRun, repeatRequest, runAll, settle } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import { type RunRequest, keyCall, scriptRun, unsafeCall, unsafeCommand } from '../test-bed/run-requests';

const sizes = { full: { runs: 20, parked: 10, atOnce: 10 }, small: { runs: 3, parked: 2, atOnce: 5 } };
const faults = ['drop', 'late', 'error'] as const;
/** Behaviours after which the caller does not know whether the effect was applied. */
const silent = ['drop', 'late'];

export const effects: Experiment = {
  name: 'effects',
  title:
    'The effect server commits, and then drops the connection, answers after the caller has timed out, or answers 500. Each ' +
    'run calls it unsafely and under a key in each of these ways. Then runs park on what is unknown, and a bot answers for ' +
    'a person, by the ledger of the effect server.',

  async run(testBed, scale) {
    const size = sizes[scale.name];
    const reporting = repeatRequest('report', size.runs, (tag) => everyFault(testBed, tag));
    const parking = repeatRequest('park', size.parked, (tag) => oneThatParks(testBed, tag));
    const pace = { atOnce: size.atOnce, withinMs: scale.quietMs };
    const reported = await runAll(testBed, reporting, pace);
    const parked = await runAll(testBed, parking, pace);
    const asked = parked.filter(({ settled }) => settled?.status.startsWith('waiting_')).length;
    for (const run of parked) await resolveAsAsked(testBed, run, scale.quietMs);
    testBed.faults.note('reply dropped, late or 500', 'effect-server');

    const examination = await examine(testBed, [...reported, ...parked]);
    return toFindings(testBed, examination, {
      size: `${size.runs} runs × ${faults.length} faults × unsafe and keyed requests and one command; ${size.parked} runs that park`,
      bars: [
        ...listBars(testBed, examination),
        always('runs that asked a person about the unknown call', { times: asked, of: size.parked }),
      ],
    });
  },
};

const everyFault = (testBed: TestBed, tag: string): RunRequest =>
  scriptRun(
    tag,
    [
      {
        calls: [
          ...faults.flatMap((behaviour) => [
            unsafeCall(testBed.effects, { tag: `${tag}/${behaviour}/unsafe`, behaviour }),
            keyCall(testBed.effects, { tag: `${tag}/${behaviour}/keyed`, behaviour }),
          ]),
          unsafeCommand(testBed.effects, { tag: `${tag}/command/unsafe`, behaviour: 'drop' }),
        ],
      },
      { text: 'All said.' },
    ],
    { limits: { tool_timeout_s: 3 } },
  );

const oneThatParks = (testBed: TestBed, tag: string): RunRequest =>
  scriptRun(
    tag,
    [{ calls: [unsafeCall(testBed.effects, { tag: `${tag}/drop/unsafe`, behaviour: 'drop' })] }, { text: 'All said.' }],
    { processor: { unknown_outcome: 'park' } },
  );

function listBars(testBed: TestBed, { runs }: Examination): Bar[] {
  const applied = testBed.effects.ledger.countEffects();
  const requests = (tag: string) => testBed.effects.ledger.requests.filter((request) => request.tag === tag).length;
  const calls = runs.flatMap(({ facts }) => {
    const [unknown, completed] = [callsWith(facts, 'tool.unknown'), callsWith(facts, 'tool.completed')];
    return listPlannedEffects(facts).map((effect) => ({
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

const questionsAtMost = 20;

/** Resolves a run's unknown calls until it asks no more; the effect server's ledger says whether each was applied. */
async function resolveAsAsked(testBed: TestBed, run: LaunchedRun, withinMs: number): Promise<void> {
  for (let asked = 0; asked < questionsAtMost && run.settled?.status === 'waiting_input'; asked += 1) {
    const facts = await testBed.client.facts(run.id);
    const callId = facts.findLast((fact) => fact.type === 'run.waiting')?.data.question?.tool_call_id ?? '';
    const effect = listPlannedEffects(facts).find((planned) => planned.callId === callId);
    const happened = (testBed.effects.ledger.countEffects().get(effect?.tag ?? '') ?? 0) > 0;
    await testBed.client.runs.resolve(
      callId,
      happened ? { outcome: 'completed', output: 'The ledger says that it was done.' } : { outcome: 'not_applied' },
    );
    testBed.progress.ended -= 1;
    await settle(testBed, run, withinMs);
  }
}
