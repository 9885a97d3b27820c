import { join } from 'node:path';
import { CORE_SCHEMA, loadAll } from 'js-yaml';
import { z } from 'zod';
import { parseArguments } from '../../../deploy/local/cluster/arguments.mjs';
import { type ExaminedRun, standstills, toOutcome } from '../../../deploy/local/cluster/outcome.mjs';
import { type KubernetesObject, translate } from '../../../deploy/local/cluster/translate.mjs';
import { helmProgram } from '../../../deploy/local/containers/helm.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { run } from '../../../deploy/local/run-program.mjs';

const anObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

let rendered: KubernetesObject[];
let translated: KubernetesObject[];
beforeAll(async () => {
  const helm = await helmProgram(join(repoRoot, '.data/packages/helm-4'));
  const chart = join(repoRoot, 'deploy/helm/rondo');
  const { stdout } = await run(helm, [
    'template',
    'rondo',
    chart,
    '--set',
    'bundled.enabled=true,autoscaling=keda,toolExecutor.sandbox.limits=pod',
  ]);
  rendered = loadAll(stdout, { schema: CORE_SCHEMA })
    .filter((object) => object !== null && object !== undefined)
    .map((object) => anObject.parse(object));
  translated = translate(rendered);
}, 300_000);

const named = (objects: readonly KubernetesObject[], kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);

describe('the objects of the chart on the cluster of npm run cluster', () => {
  it('have the API versions of Kubernetes 1.20', () => {
    const versions = new Set(translated.map(({ kind, apiVersion }) => `${kind} ${apiVersion}`));

    expect([...versions].sort()).toEqual([
      'ConfigMap v1',
      'Deployment apps/v1',
      'HorizontalPodAutoscaler autoscaling/v2beta2',
      'Job batch/v1',
      'NetworkPolicy networking.k8s.io/v1',
      'Pod v1',
      'PodDisruptionBudget policy/v1beta1',
      'Service v1',
      'ServiceAccount v1',
      'StatefulSet apps/v1',
    ]);
  });

  it('lack the fields of pods that came later, and nothing else', () => {
    const executor = { kind: 'StatefulSet', name: 'rondo-tool-executor' };
    const before = JSON.stringify(named(rendered, executor.kind, executor.name));
    const after = JSON.stringify(named(translated, executor.kind, executor.name));

    expect(after).toBe(
      before.replace('"hostUsers":false,', '').replace(',"appArmorProfile":{"type":"Unconfined"}', ''),
    );
    const untouched = ['Deployment', 'Service', 'NetworkPolicy', 'Job', 'Pod'];
    for (const object of rendered.filter(({ kind }) => untouched.includes(kind)))
      expect(named(translated, object.kind, object.metadata.name)).toEqual(object);
  });

  it('scale by what KEDA would read, with its target, limits and behavior', () => {
    const { spec } = z
      .object({
        spec: z.object({
          minReplicaCount: z.number(),
          maxReplicaCount: z.number(),
          advanced: z.object({ horizontalPodAutoscalerConfig: z.object({ behavior: z.unknown() }) }),
          triggers: z.tuple([z.object({ metadata: z.looseObject({ targetQueryValue: z.string() }) })]),
        }),
      })
      .parse(named(rendered, 'ScaledObject', 'rondo-agent-worker'));

    expect(named(translated, 'HorizontalPodAutoscaler', 'rondo-agent-worker')).toMatchObject({
      spec: {
        minReplicas: spec.minReplicaCount,
        maxReplicas: spec.maxReplicaCount,
        metrics: [
          {
            type: 'External',
            external: { target: { type: 'AverageValue', averageValue: spec.triggers[0].metadata.targetQueryValue } },
          },
        ],
        behavior: spec.advanced.horizontalPodAutoscalerConfig.behavior,
      },
    });
  });

  it('give NATS of Debian 12 no setting that it refuses', () => {
    const configuration = JSON.stringify(named(translated, 'ConfigMap', 'rondo-nats'));

    expect(configuration).toContain('max_payload');
    expect(configuration).not.toContain('sync_interval');
  });
});

describe('the command line of npm run cluster', () => {
  const proofs = ['helm-test', 'drain', 'scaling'];

  it('proves everything, or what it is told to, in the order of the proofs', () => {
    expect(parseArguments([], proofs)).toEqual({ action: 'prove', only: proofs, keepImages: false });
    expect(parseArguments(['--only', 'scaling,helm-test', '--keep-images'], proofs)).toEqual({
      action: 'prove',
      only: ['helm-test', 'scaling'],
      keepImages: true,
    });
    expect(parseArguments(['--down'], proofs)).toMatchObject({ action: 'down' });
  });

  it('refuses what it does not know by name', () => {
    expect(() => parseArguments(['--fast'], proofs)).toThrow('--fast');
    expect(() => parseArguments(['--only', 'drain,dreams'], proofs)).toThrow('dreams');
    expect(() => parseArguments(['--only'], proofs)).toThrow('--only takes helm-test, drain, scaling');
  });
});

describe('the outcome of a load', () => {
  const good: ExaminedRun = {
    ...{ id: 'run_1', status: 'completed', flaws: [] },
    ...{ doubled: 0, missing: 0, unclear: 0, restarted: 1, retried: 0, times: [] },
  };
  const of = (runs: readonly ExaminedRun[], { failures = [] as string[], requestsMayFail = false } = {}) =>
    toOutcome({ runs, requests: 10, failures }, { requestsMayFail });

  it('is its figures, if every run completed and was done once', () => {
    expect(of([good, good])).toBe(
      '2 of 2 runs completed; 0 steps doubled, 0 lost, 0 of unclear outcome; ' +
        '2 iterations begun again, 0 model calls tried again; 0 of 10 requests failed',
    );
    expect(of([good], { failures: ['GET /runs: 503'], requestsMayFail: true })).toContain('1 of 10 requests failed');
  });

  it.each([
    ['a run failed', [{ ...good, status: 'failed' }]],
    ['a log has a gap', [{ ...good, flaws: ['there is a gap before seq 3'] }]],
    ['a step was done twice', [good, { ...good, doubled: 1 }]],
    ['a step is missing', [{ ...good, missing: 1 }]],
    ['there was no run', []],
  ])('is an error if %s', (_, runs) => {
    expect(() => of(runs)).toThrow(runs.length === 0 ? 'there was no run' : 'run_1');
  });

  it('tells how long the runs stood still that were under way at a moment', () => {
    const runs = [
      [0, 900, 1_000, 5_000, 5_100, 60_000], // the last pause begins long after
      [500, 1_500, 2_000],
      [100, 900], // had ended
      [2_000, 9_000], // had not begun
    ].map((times) => ({ ...good, times }));

    expect(standstills(runs, { since: 1_200, withinMs: 3_000 })).toEqual([1_000, 4_000]);
  });

  it('is an error if a request failed that must not', () => {
    expect(() => of([good], { failures: ['GET /runs: 503'] })).toThrow('GET /runs: 503');
  });
});
