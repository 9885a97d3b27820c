import type { NewFact, RecordedFact, RunId, WorkspacePrepared } from '@rondo/contract';
import { type ClaimedRun, TerminalError } from '@rondo/domain';
import { TunnelError } from '@rondo/messaging';
import { WorkspacePreparation, type WorkspacePreparationParts } from './workspace-preparation';

const environment = {
  repository: { url: 'https://example.com/team/site.git' },
  files: [{ path: 'a.txt', content: '' }],
};
const done: WorkspacePrepared = {
  repository: { path: 'site', ref: null, commit: '0'.repeat(40), is_new: true },
  files: [{ path: 'a.txt', is_new: true }],
  skills: [],
  duration_ms: 5,
};

const none = { count: 0, paths: [] };
const nothingChanged = { created: none, changed: none, removed: none };

/** The fields of a claim that the preparation reads. */
const createClaim = (log: readonly Pick<RecordedFact, 'type'>[] = [], settings: object = { environment }) =>
  ({ runId: 'run_1', log, run: { iteration: 0, last_seq: log.length, settings } }) as unknown as ClaimedRun;

function create(parts: Partial<WorkspacePreparationParts> = {}) {
  const appended: NewFact['type'][] = [];
  const data: NewFact['data'][] = [];
  const preparation = new WorkspacePreparation({
    prepare: () => Promise.resolve(done),
    rewind: () => Promise.resolve(nothingChanged),
    placement: () => Promise.resolve('exe_1'),
    untilConnected: () => Promise.resolve(),
    awaitsSecret: () => Promise.resolve(false),
    append: (_, facts) => {
      appended.push(...facts.map(({ type }) => type));
      data.push(...facts.map((fact) => fact.data));
      return Promise.resolve(facts.map((fact, index) => ({ ...fact, seq: index + 1 }) as RecordedFact)); // as far as it is read
    },
    publish: () => undefined,
    pauseMs: 1,
    ...parts,
  });
  const prepare = (claim = createClaim(), signal = new AbortController().signal) =>
    preparation.prepareFor(claim, signal);
  return { prepare, appended, data };
}

const failing = (code: string, times: number) => {
  let failures = 0;
  return () => {
    if (failures === times) return Promise.resolve(done);
    failures += 1;
    return Promise.reject(new TunnelError(code, `It is ${code}.`));
  };
};

describe('WorkspacePreparation', () => {
  it('brings files back before anything else, once, and not for what a fork shares', async () => {
    const rewinding = { type: 'workspace.rewinding', data: { thread_id: 'thr_0', run_id: 'run_0', moment: 'call_1' } };
    const asked: unknown[] = [];
    const { prepare, appended } = create({
      rewind: (_, to) => {
        asked.push(to, ...appended);
        return Promise.resolve(nothingChanged);
      },
    });

    await prepare(createClaim([rewinding] as RecordedFact[]));
    expect(asked).toEqual([rewinding.data]);
    expect(appended).toEqual(['workspace.rewound', 'workspace.preparing', 'workspace.prepared']);

    await prepare(createClaim([rewinding, { type: 'workspace.rewound' }] as RecordedFact[], {}));
    await prepare(createClaim([rewinding, { type: 'run.forked' }] as RecordedFact[], {}));
    expect(asked).toHaveLength(1);
  });

  it('fails a run whose files cannot be brought back', async () => {
    const rewind = () => Promise.reject(new TunnelError('failed', 'Nothing was kept.'));
    const { prepare } = create({ rewind });
    const log = [{ type: 'workspace.rewinding', data: {} }] as RecordedFact[];
    await expect(prepare(createClaim(log, {}))).rejects.toMatchObject({
      code: 'rewind_failed',
      message: 'Nothing was kept.',
    });
  });

  it('records what is wanted before it is done, and what is there afterwards', async () => {
    const order: string[] = [];
    const { prepare, appended } = create({
      prepare: () => {
        order.push(...appended);
        return Promise.resolve(done);
      },
    });

    const claim = await prepare();
    expect(order).toEqual(['workspace.preparing']);
    expect(appended).toEqual(['workspace.preparing', 'workspace.prepared']);
    expect(claim.log.map(({ type }) => type)).toEqual(appended);
  });

  it('records what the sandbox is to be made of, too', async () => {
    const { prepare, data } = create();
    const sandbox = { image: 'python:3.12', packages: { pip: ['requests==2.32.3'] }, size: { cpus: 1 } };

    await prepare(createClaim([], { environment: { ...sandbox, egress: [] } }));
    expect(data[0]).toEqual({ ...sandbox, egress: [], repository: null, files: [] });

    const { prepare: prepareFiles, data: ofFiles } = create();
    await prepareFiles(createClaim([], { environment: { files: environment.files } }));
    expect(ofFiles[0]).toEqual({ egress: null, repository: null, files: ['a.txt'] });
  });

  it('does nothing for a run without an environment, and once for one that has it', async () => {
    const { prepare, appended } = create();

    await prepare(createClaim([], {}));
    await prepare(createClaim([{ type: 'workspace.preparing' }, { type: 'workspace.prepared' }]));
    expect(appended).toEqual([]);

    await prepare(createClaim([{ type: 'workspace.preparing' }]));
    expect(appended).toEqual(['workspace.prepared']);
  });

  it('prepares the workspace of a fork, which has none of the files of its origin', async () => {
    const { prepare, appended } = create();

    await prepare(createClaim([{ type: 'workspace.prepared' }, { type: 'run.forked' }]));
    expect(appended).toEqual(['workspace.preparing', 'workspace.prepared']);
  });

  it('tries again what passes, for example while its executor is away', async () => {
    const { prepare, appended } = create({ prepare: failing('tunnel_lost', 3) });

    await prepare();
    expect(appended).toContain('workspace.prepared');
  });

  it('waits for NATS without counting that as an attempt, and leaves a run that is stopped meanwhile', async () => {
    const stop = new AbortController();
    let asked = 0;
    const { prepare, appended } = create({
      untilConnected: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      placement: () => Promise.resolve(`exe_${(asked += 1)}`),
    });

    const preparing = prepare(createClaim(), stop.signal);
    while (appended.length === 0) await new Promise(setImmediate);
    stop.abort();
    await preparing;
    expect([appended, asked]).toEqual([['workspace.preparing'], 0]);
  });

  it('leaves a run to the next worker where the database is away', async () => {
    const away = Object.assign(new Error('It shuts down.'), { code: '57P01' });
    const { prepare } = create({ placement: () => Promise.reject(away) });
    await expect(prepare()).rejects.toBe(away);
  });

  it('ends the run with the reason where it cannot have what it names', async () => {
    const { prepare } = create({ prepare: failing('failed', 1) });
    await expect(prepare()).rejects.toEqual(new TerminalError('environment_failed', 'It is failed.'));
    const { prepare: always } = create({ prepare: failing('executor_away', 100) });
    await expect(always()).rejects.toMatchObject({ code: 'environment_failed' });
  });

  it('waits while a person has to allow the secret of the repository', async () => {
    let decided = 0;
    const awaitsSecret = (_: RunId) => Promise.resolve((decided += 1) < 10);
    const { prepare, appended } = create({ prepare: failing('failed', 9), awaitsSecret });

    await prepare();
    expect(appended).toContain('workspace.prepared');
  });

  it('leaves a run that is stopped as it is', async () => {
    const stop = new AbortController();
    const { prepare, appended } = create({
      prepare: () => {
        stop.abort();
        return Promise.reject(new TunnelError('client_left', 'The client has left.'));
      },
    });

    await prepare(createClaim(), stop.signal);
    expect(appended).toEqual(['workspace.preparing']);
  });
});
