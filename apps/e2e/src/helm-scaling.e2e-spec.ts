import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { promtool } from '../../../deploy/local/servers/prometheus.mjs';
import { environment } from '../../tool-executor/src/config';
import { findPods, type KubernetesObject, prepareHelm, refusal, renderValues } from './rendered-chart';
import { alertRules, listRules } from './rule-file';

const root = resolve(__dirname, '../../..');
beforeAll(prepareHelm, 300_000);

const moving = {
  ...{ 'bundled.enabled': true, 'toolExecutor.sandbox.limits': 'pod', 'toolExecutor.replicas': 2 },
  ...{ 'toolExecutor.env.SANDBOX_SNAPSHOTS': 's3://copies/of', 'agentWorker.env.EXECUTOR_LOST_AFTER_S': 60 },
  ...{ 'toolExecutor.autoscaling.enabled': true, 'toolExecutor.autoscaling.maxReplicas': 5 },
};
const keda = { ...moving, autoscaling: 'keda', 'toolExecutor.autoscaling.prometheus': 'http://prometheus:9090' };

const findScaler = (objects: readonly KubernetesObject[], scaler: string) =>
  objects.find(({ kind, metadata }) => kind === scaler && metadata.name === 'rondo-tool-executor')?.['spec'];
const triggers = z.object({ triggers: z.array(z.object({ metadata: z.record(z.string(), z.string()) })) });

/** Series of an executor: how many of its 32 slots and of its 128 sandboxes are in use. */
const toSeries = (pod: string, { slots, sandboxes }: { readonly slots: number; readonly sandboxes: number }) =>
  Object.entries({
    rondo_tool_slots_in_use: slots,
    rondo_tool_slots: 32,
    rondo_sandboxes_awake: sandboxes,
    rondo_sandboxes_max: 128,
  }).map(([metric, value]) => ({ series: `${metric}{namespace="default",pod="${pod}"}`, values: `${value}x4` }));

describe('executors that are scaled by what they announce', () => {
  it('are asked for by KEDA: the sum of the parts in use, of slots or of sandboxes, over the target', async () => {
    const scaled = findScaler(await renderValues(keda), 'ScaledObject');
    const [trigger] = triggers.parse(scaled).triggers;

    expect(scaled).toMatchObject({
      scaleTargetRef: { kind: 'StatefulSet', name: 'rondo-tool-executor' },
      ...{ minReplicaCount: 2, maxReplicaCount: 5 },
    });
    expect(trigger?.metadata).toMatchObject({ serverAddress: 'http://prometheus:9090', threshold: '0.7' });
    await expectValue(trigger?.metadata['query'] ?? '', 0.75 + 0.5);
  }, 300_000);

  it('are asked for without KEDA by the metrics of pods, as parts of what each may have', async () => {
    const scaled = findScaler(await renderValues({ ...moving, autoscaling: 'cpu' }), 'HorizontalPodAutoscaler');
    const { TOOL_CONCURRENCY: slots, SANDBOX_MAX: sandboxes } = environment.shape;
    const target = (most: z.ZodType<number>) => ({
      ...{ type: 'AverageValue', averageValue: String(Math.floor(most.parse(undefined) * 0.7)) },
    });

    expect(scaled).toMatchObject({
      metrics: [
        { type: 'Pods', pods: { metric: { name: 'rondo_sandboxes_awake' }, target: target(sandboxes) } },
        { type: 'Pods', pods: { metric: { name: 'rondo_tool_slots_in_use' }, target: target(slots) } },
      ],
    });
  });

  it('follow the limits that were set for them', async () => {
    const limits = { 'toolExecutor.env.TOOL_CONCURRENCY': 10, 'toolExecutor.env.SANDBOX_MAX': 20 };
    const scaled = findScaler(
      await renderValues({ ...moving, autoscaling: 'cpu', ...limits }),
      'HorizontalPodAutoscaler',
    );

    expect(JSON.stringify(scaled)).toContain('"averageValue":"7"');
    expect(JSON.stringify(scaled)).toContain('"averageValue":"14"');
  });

  it('leave their number to the autoscaler, and each that may come has a user and a password', async () => {
    const objects = await renderValues(keda);
    const set = objects.find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'rondo-tool-executor');
    const passwords = findPods(objects)
      .get('tool-executor')
      ?.volumes?.find(({ name }) => name === 'nats-passwords');

    expect(set?.['spec']).not.toHaveProperty('replicas');
    expect(passwords?.secret?.items?.map(({ path }) => path)).toContain('rondo-tool-executor-4');
    const configuration = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'rondo-nats');
    expect(JSON.stringify(configuration)).toContain('NATS_RONDO_TOOL_EXECUTOR_4_PASSWORD');
  });

  it('have time to copy their workspaces before they end', async () => {
    const copying = { ...keda, 'toolExecutor.env.SANDBOX_SNAPSHOTS_CLOSE_S': 120 };
    const executor = findPods(await renderValues(copying)).get('tool-executor');

    expect(executor?.terminationGracePeriodSeconds).toBe(30 + 10 + 120);
  });

  it.each([
    [['autoscaling=none'], 'Set autoscaling to keda or cpu'],
    [['autoscaling=keda'], 'Set toolExecutor.autoscaling.prometheus'],
    [['autoscaling=cpu'], 'Set SANDBOX_SNAPSHOTS in toolExecutor.env'],
    [['autoscaling=cpu', 'toolExecutor.env.SANDBOX_SNAPSHOTS=s3://a/b'], 'EXECUTOR_LOST_AFTER_S in agentWorker.env'],
    [['autoscaling=cpu', 'env.SANDBOX_SNAPSHOTS=s3://a/b', 'env.EXECUTOR_LOST_AFTER_S=60'], 'rendered'],
    [['autoscaling=cpu', 'toolExecutor.env.SANDBOX_PROVIDER=daytona'], 'rendered'],
    [['autoscaling=cpu', 'toolExecutor.replicas=5'], 'Set toolExecutor.autoscaling.maxReplicas'],
  ])('are not scaled with %j unless workspaces can move and the load is known', async (settings, words) => {
    const enabled = [
      'bundled.enabled=true',
      'toolExecutor.sandbox.limits=pod',
      'toolExecutor.autoscaling.enabled=true',
    ];

    expect(await refusal(...enabled, ...settings)).toContain(words);
  });
});

describe('agent-workers that KEDA starts for the first run', () => {
  const none = { 'bundled.enabled': true, 'toolExecutor.sandbox.limits': 'pod', 'agentWorker.replicas': 0 };

  it('are none at first, one at least where the database cannot be read, and no alert', async () => {
    const objects = await renderValues({ ...none, autoscaling: 'keda', 'prometheusRule.enabled': true });
    const find = (wanted: string) => objects.find(({ kind }) => kind === wanted)?.['spec'];

    expect(find('ScaledObject')).toMatchObject({ minReplicaCount: 0, fallback: { replicas: 1 } });
    const alerts = listRules(find('PrometheusRule')).map(({ alert }) => alert);
    expect(alerts).toEqual(alertRules().flatMap(({ alert }) => (alert === 'RondoNoWorker' ? [] : [alert])));
  });

  it.each(['none', 'cpu'])('are refused with autoscaling=%s, which starts none', async (autoscaling) => {
    const settings = Object.entries({ ...none, autoscaling }).map(([name, value]) => `${name}=${value}`);

    expect(await refusal(...settings)).toContain('Set agentWorker.replicas to at least 1, or autoscaling to keda');
  });
});

/** Evaluates a query over two executors of the release and one of another, with Prometheus's own engine. */
async function expectValue(query: string, value: number): Promise<void> {
  const input = [
    ...toSeries('rondo-tool-executor-0', { slots: 8, sandboxes: 96 }),
    ...toSeries('rondo-tool-executor-1', { slots: 16, sandboxes: 16 }),
    ...toSeries('other-tool-executor-0', { slots: 32, sandboxes: 128 }),
  ];
  const expected = { expr: query, eval_time: '1m', exp_samples: [{ labels: '{}', value }] };
  const directory = join(root, '.data/cache');
  mkdirSync(directory, { recursive: true });
  const tests = [{ interval: '30s', input_series: input, promql_expr_test: [expected] }];
  writeFileSync(join(directory, 'executor-load.test.yaml'), JSON.stringify({ rule_files: [], tests })); // JSON is YAML
  await promtool(['test', 'rules', 'executor-load.test.yaml'], {
    packagesDirectory: join(root, '.data'),
    cwd: directory,
  });
}
