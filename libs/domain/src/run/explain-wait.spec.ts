import { type Run, callId, newRun, runId, runStatus, threadId, waitCause } from '@rondo/contract';
import fc from 'fast-check';
import { effectiveSettings } from '../profiles/effective-settings';
import { type RunMoment, explainPreparation, explainQueueShare, explainServerStart, explainWait } from './explain-wait';

const effective = effectiveSettings({}, { model: 'demo/coder' });
if ('problems' in effective) throw new Error('the defaults are valid');
const earlier = '2026-01-01T00:00:00.000Z';
const now = '2026-01-01T00:01:00.000Z';
const later = '2026-01-01T00:02:00.000Z';
const call = { id: callId.parse('call_01'), name: 'bash', since: earlier };

const run: Run = {
  ...newRun({
    id: runId.parse('run_01'),
    thread_id: threadId.parse('thr_01'),
    last_seq: 1,
    settings: effective.settings,
    metadata: {},
    created_at: earlier,
  }),
  status: 'running',
};

const working: RunMoment = {
  at: now,
  run,
  lastFact: { type: 'message.created', at: earlier, retryDelayMs: undefined },
  lease: { isExpired: false, expiresAt: later },
  thread: { isHeld: true, holder: run.id, ahead: 0 },
  queue: { name: 'runs', dueSince: earlier, ahead: 0 },
  calls: [],
  secrets: [],
  executorId: undefined,
  unknown: [],
  childRuns: [],
};

const fact = (type: RunMoment['lastFact']['type'], retryDelayMs?: number) => ({ type, at: earlier, retryDelayMs });
const waiting = (given: Run['waiting']): Partial<RunMoment> => ({
  run: { ...run, status: 'waiting_input', waiting: given },
});

describe('what a run waits for', () => {
  it.each<[string, Partial<RunMoment>, object]>([
    [
      'a person who has to allow a secret that its call would use',
      { calls: [call], secrets: [{ name: 'TOKEN', host: 'api.example', since: now }] },
      { cause: 'approval', since: now, tool_calls: [call], sentence: expect.stringContaining('TOKEN') },
    ],
    ['an end', { run: { ...run, status: 'completed', finished_at: now } }, { cause: 'none', since: now }],
    [
      'the run before it on its thread',
      { thread: { isHeld: false, holder: runId.parse('run_00'), ahead: 2 }, lease: undefined },
      { cause: 'thread', behind_run_id: 'run_00', ahead: 2, sentence: expect.stringContaining('2 runs before it') },
    ],
    [
      'the run at work that its message was told to',
      {
        run: { ...run, status: 'queued', steers: { run_id: runId.parse('run_00'), is_read: false } },
        thread: { isHeld: false, holder: runId.parse('run_00'), ahead: 0 },
        lease: undefined,
      },
      { cause: 'thread', behind_run_id: 'run_00', sentence: expect.stringContaining('reads it before its next') },
    ],
    [
      'another run than the one that its message was told to, which has ended',
      {
        run: { ...run, status: 'queued', steers: { run_id: runId.parse('run_00'), is_read: false } },
        thread: { isHeld: false, holder: runId.parse('run_02'), ahead: 0 },
        lease: undefined,
      },
      { cause: 'thread', behind_run_id: 'run_02', sentence: expect.stringContaining('Waits for run_02') },
    ],
    [
      'nothing, since the run at work has read its message',
      { run: { ...run, status: 'stopped', steers: { run_id: runId.parse('run_00'), is_read: true } } },
      { cause: 'none', sentence: 'The run is over: run_00 has read its message while it worked.' },
    ],
    [
      'an answer',
      waiting({ reason: 'ask', question: { text: 'Which colour?', attachments: [], tool_call_id: 'call_01' } }),
      { cause: 'answer', sentence: 'Waits for an answer to: Which colour?' },
    ],
    [
      'the last answer that it can get',
      {
        run: {
          ...run,
          iteration: run.settings.limits.max_iterations,
          status: 'waiting_input',
          waiting: { reason: 'ask', question: { text: 'Which?', attachments: [], tool_call_id: 'call_01' } },
        },
      },
      { cause: 'answer', sentence: expect.stringContaining('it has used all its iterations') },
    ],
    [
      'a worker of a newer version',
      { lease: undefined, unknown: ['fact plan.changed'] },
      { cause: 'queue', sentence: expect.stringContaining('a newer version') },
    ],
    ['an approval', waiting({ reason: 'approval' }), { cause: 'approval' }],
    ['a budget', waiting({ reason: 'budget' }), { cause: 'budget' }],
    [
      'a budget that is used up',
      waiting({ reason: 'budget', budget: { usd: 1, tokens: 900, spent_usd: 0.75, spent_tokens: 800 } }),
      { cause: 'budget', sentence: expect.stringContaining('$0.75 of $1 and 800 of 900 tokens'), budget: { usd: 1 } },
    ],
    [
      'a decision about a call',
      { ...waiting({ reason: 'tool_unknown' }), calls: [call] },
      { cause: 'tool_unknown', tool_calls: [call] },
    ],
    [
      'a worker, behind one run',
      { lease: undefined, queue: { name: 'runs', dueSince: earlier, ahead: 1 } },
      { cause: 'queue', ahead: 1, sentence: expect.stringContaining('1 run of its account before it') },
    ],
    [
      'a summarizer',
      { lease: undefined, queue: { name: 'compactions', dueSince: earlier, ahead: 0 } },
      { cause: 'summary' },
    ],
    ['another worker', { lease: { isExpired: true, expiresAt: earlier } }, { cause: 'takeover', since: earlier }],
    [
      'the end of a call after a stop',
      { run: { ...run, status: 'stopping', stop_requested_at: earlier }, calls: [call] },
      { cause: 'stop', since: earlier, tool_calls: [call] },
    ],
    ['a tool', { calls: [call], executorId: 'exe_1' }, { cause: 'tool', sentence: 'Runs bash.', executor_id: 'exe_1' }],
    [
      'its image and its packages',
      {
        lastFact: {
          ...fact('workspace.preparing'),
          preparing: {
            ...{ image: 'python:3.12', packages: { pip: ['requests==2.32.3'], npm: ['semver@7.6.3'] } },
            ...{ repository: { path: 'site', ref: null }, files: ['a.txt'], egress: null },
          },
        },
      },
      {
        cause: 'workspace',
        since: earlier,
        sentence:
          'Prepares the workspace: the image python:3.12, the packages requests==2.32.3, semver@7.6.3, the repository in site, 1 file.',
      },
    ],
    [
      'its files as they were',
      { lastFact: fact('workspace.rewinding'), executorId: 'exe_01' },
      {
        ...{ cause: 'workspace', since: earlier, executor_id: 'exe_01' },
        sentence: 'Brings the files of the workspace back to an earlier state.',
      },
    ],
    ['a summary under way', { queue: { name: 'compactions', dueSince: earlier, ahead: 0 } }, { cause: 'summary' }],
    [
      'the time of the next attempt',
      { lastFact: fact('model.retried', 120_000) },
      { cause: 'model_retry', until: later },
    ],
    ['the model again, once that time is over', { lastFact: fact('model.retried', 1_000) }, { cause: 'model' }],
    ['the model', { lastFact: fact('iteration.started') }, { cause: 'model', since: earlier }],
    ['its worker', {}, { cause: 'worker', since: earlier }],
  ])('%s', (_, given, expected) => {
    expect(explainWait({ ...working, ...given })).toMatchObject({ run_id: run.id, at: now, ...expected });
  });

  it.each([
    ['budget_exceeded', 'what it or its account may spend does not cover its next request'],
    ['max_iterations', 'all its iterations'],
    ['loop_detected', 'repeated the same calls'],
    ['length', 'is cut off'],
    ['complete', 'The run is over: completed.'],
  ] as const)('is nothing after the end, and says what %s means', (finish_reason, words) => {
    const wait = explainWait({ ...working, run: { ...run, status: 'completed', finish_reason, finished_at: now } });

    expect(wait).toMatchObject({ cause: 'none', sentence: expect.stringContaining(words) });
  });

  it('is a worker only while one holds the run, and nothing only after the end', () => {
    const moment = fc.record({
      status: fc.constantFrom(...runStatus.options),
      isHeld: fc.boolean(),
      lease: fc.option(fc.record({ isExpired: fc.boolean(), expiresAt: fc.constant(later) }), { nil: undefined }),
      calls: fc.constantFrom([], [call]),
    });
    fc.assert(
      fc.property(moment, ({ status, isHeld, lease, calls }) => {
        const { cause, sentence } = explainWait({
          ...working,
          run: { ...run, status, waiting: status === 'waiting_input' ? { reason: 'ask' } : null },
          thread: { ...working.thread, isHeld },
          ...{ lease, calls },
        });
        expect(waitCause.options).toContain(cause);
        expect(sentence).toMatch(/^[A-Z].*$/);
        expect(cause === 'none').toBe(['completed', 'failed', 'stopped'].includes(status));
        if (['worker', 'model', 'tool'].includes(cause)) expect(lease?.isExpired).toBe(false);
      }),
    );
  });
});

describe('explainPreparation', () => {
  it('adds what its executor is at, in a sentence that is the same until that changes', () => {
    const preparing = { repository: null, files: [], egress: null, packages: { npm: ['semver@7.6.3'] } };
    const wait = explainWait({ ...working, lastFact: { ...fact('workspace.preparing'), preparing } });
    const step = { name: 'packages' as const, since: '2026-01-01T00:00:48.000Z' };

    expect(explainPreparation(wait, step)).toEqual({
      ...wait,
      step,
      sentence: 'Prepares the workspace: the packages semver@7.6.3. Now the packages are installed.',
    });
  });
});

describe('explainQueueShare', () => {
  it('names the calls that wait for capacity in the queue', () => {
    const wait = explainWait({ ...working, calls: [call] });

    expect(explainQueueShare(wait)).toEqual({
      ...wait,
      cause: 'tool_queue',
      sentence: expect.stringContaining('bash'),
    });
  });

  it('changes nothing where the run waits for something else by now', () => {
    const wait = explainWait(working);

    expect(explainQueueShare(wait)).toBe(wait);
  });
});

describe('explainServerStart', () => {
  it('names the MCP servers that have not answered, and since when the run waits for them', () => {
    const wait = explainWait(working);
    const since = new Date(Date.parse(wait.at) - 12_400).toISOString();

    expect(explainServerStart(wait, [{ name: 'notes', since }])).toEqual({
      ...wait,
      sentence: 'Starts the MCP server notes.',
      since,
    });
    expect(explainServerStart(wait, [])).toBe(wait);
  });
});
