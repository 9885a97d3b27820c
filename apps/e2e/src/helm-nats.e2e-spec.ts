import { z } from 'zod';
import { findPods, type KubernetesObject, prepareHelm, refusal, render } from './rendered-chart';

beforeAll(prepareHelm, 300_000);

const bundled = ['toolExecutor.sandbox.limits=pod', 'bundled.enabled=true'];
const nodes = [0, 1, 2].map((index) => `rondo-nats-cluster-${index}.rondo-nats-cluster`);
const find = (objects: readonly KubernetesObject[], kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);
const readSpec = (objects: readonly KubernetesObject[], kind: string, name: string) =>
  find(objects, kind, name)?.['spec'];
const readVariable = (objects: readonly KubernetesObject[], component: string, name: string) =>
  findPods(objects)
    .get(component)
    ?.containers[0]?.env.find((variable) => variable.name === name);
const readConfiguration = (objects: readonly KubernetesObject[]) =>
  z.object({ data: z.object({ 'rondo.conf': z.string() }) }).parse(find(objects, 'ConfigMap', 'rondo-nats')).data[
    'rondo.conf'
  ];

describe('three bundled servers of NATS', () => {
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await render(...bundled, 'bundled.nats.replicas=3');
  });

  it('are pods with names and volumes of their own, on different nodes where possible', () => {
    expect(readSpec(objects, 'StatefulSet', 'rondo-nats-cluster')).toMatchObject({
      serviceName: 'rondo-nats-cluster',
      replicas: 3,
      podManagementPolicy: 'Parallel',
      template: { spec: { topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname' }] } },
    });
    expect(find(objects, 'StatefulSet', 'rondo-nats')).toBeUndefined();
    expect(readSpec(objects, 'Service', 'rondo-nats-cluster')).toMatchObject({
      clusterIP: 'None',
      publishNotReadyAddresses: true,
    });
    expect(readSpec(objects, 'PodDisruptionBudget', 'rondo-nats-cluster')).toMatchObject({ maxUnavailable: 1 });
  });

  it('find each other with a password that no service has', () => {
    const routes = nodes.map((node) => `nats://cluster:$(NATS_CLUSTER_PASSWORD)@${node}:6222`);
    expect(readVariable(objects, 'nats', 'NATS_ROUTES')?.value).toBe(`[${routes.join(',')}]`);
    expect(readConfiguration(objects)).toContain('authorization { user: "cluster", password: $NATS_CLUSTER_PASSWORD }');
    for (const component of ['gateway', 'agent-worker', 'summarizer', 'tool-executor'])
      expect(readVariable(objects, component, 'NATS_CLUSTER_PASSWORD')).toBeUndefined();
  });

  it('may connect to each other, and services know all of them', () => {
    expect(JSON.stringify(readSpec(objects, 'NetworkPolicy', 'rondo-nats'))).toContain(
      '"app.kubernetes.io/component":"nats"',
    );
    expect(readVariable(objects, 'tool-executor', 'NATS_URL')?.value).toBe(
      `nats://$(EXECUTOR_ID)@${nodes.map((node) => `${node}:4222`).join(',')}`,
    );
  });

  it('keep each call on all of them, unless a value says otherwise', async () => {
    expect(readVariable(objects, 'agent-worker', 'NATS_STREAM_REPLICAS')?.value).toBe('3');
    const fewer = await render(...bundled, 'bundled.nats.replicas=5', 'agentWorker.env.NATS_STREAM_REPLICAS=3');
    expect(readVariable(fewer, 'agent-worker', 'NATS_STREAM_REPLICAS')?.value).toBe('3');
  });
});

it('one bundled server of NATS is alone', async () => {
  const objects = await render(...bundled);

  expect(readSpec(objects, 'StatefulSet', 'rondo-nats')).toMatchObject({ serviceName: 'rondo-nats', replicas: 1 });
  expect(readConfiguration(objects)).not.toContain('cluster');
  expect(readVariable(objects, 'agent-worker', 'NATS_STREAM_REPLICAS')).toBeUndefined();
  expect(find(objects, 'PodDisruptionBudget', 'rondo-nats-cluster')).toBeUndefined();
});

it('bundled servers of NATS listen where the services do', async () => {
  const objects = await render(...bundled, 'bundled.nats.replicas=3', 'listenAddress=::');

  expect(findPods(objects).get('nats')?.containers[0]?.args).toEqual(expect.arrayContaining(['--addr', '::']));
  expect(readConfiguration(objects)).toContain('host: "::"');
});

it.each([0, 2, 4])('%i bundled servers of NATS are refused, which have no majority to lose', async (replicas) => {
  expect(await refusal(...bundled, `bundled.nats.replicas=${replicas}`)).toContain('value must be one of 1, 3, 5');
});
