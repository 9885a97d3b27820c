import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { load } from 'js-yaml';
import { z } from 'zod';
import { images } from '../../../deploy/images/contents.mjs';
import {
  helmValuesDefaults,
  helmValuesReference,
  helmValuesSchema,
} from '../../../deploy/local/documents/helm-values-files.mjs';
import { composeConfiguration } from '../../../deploy/local/servers/nats-server-configuration.mjs';
import { promtool } from '../../../deploy/local/servers/prometheus.mjs';
import { run } from '../../../deploy/local/run-program.mjs';
import { runtimeVariables } from '../../../deploy/local/services/service-variables.mjs';
import { executorPassword, newHelmSecrets } from '../../../deploy/local/servers/secret-variables.mjs';
import { environment as agentWorker } from '../../agent-worker/src/environment';
import { environment as demoModel } from '../../demo-model/src/config';
import { environment as gateway } from '../../gateway/src/config';
import { environment as summarizer } from '../../summarizer/src/config';
import { environment as toolExecutor } from '../../tool-executor/src/config';
import { listObjectTypes } from './kubernetes-types';
import { chart, findPods, pod, prepareHelm, refusal, render } from './rendered-chart';
import { alertRules, metricsIn, listRules } from './rule-file';

const root = resolve(__dirname, '../../..');
const cache = join(root, '.data/cache');

beforeAll(prepareHelm, 300_000);

const findValues = (variable: string, found: z.infer<typeof pod> | undefined) =>
  found?.containers[0]?.env.filter(({ name }) => name === variable).map(({ value }) => value);

const chosen = 'toolExecutor.sandbox.limits=pod';
const external = [chosen, 'postgres.host=pg.example', 'redis.host=redis.example', 'nats.host=nats.example'];
const bundled = [chosen, 'bundled.enabled=true'];
const ingress = ['gateway.ingress.enabled=true', 'gateway.ingress.host=rondo.example'];
const monitoring = ['podMonitor.enabled=true', 'prometheusRule.enabled=true', 'dashboard.enabled=true'];
const everything = [...ingress, ...monitoring];
const combinations = [
  { name: 'external servers', settings: external },
  { name: 'bundled servers', settings: bundled },
  { name: 'three bundled servers of NATS', settings: [...bundled, 'bundled.nats.replicas=3'] },
  { name: 'KEDA, Ingress and monitoring', settings: [...external, ...everything, 'autoscaling=keda'] },
  { name: 'scaling by CPU', settings: [...bundled, ...everything, 'autoscaling=cpu'] },
  { name: 'privileged executors', settings: [...bundled, 'toolExecutor.sandbox.mode=privileged'] },
  {
    name: 'executors of a runtime class with limits for each sandbox',
    settings: [
      ...external,
      'toolExecutor.sandbox.limits=sandbox',
      'toolExecutor.sandbox.mode=runtime',
      'toolExecutor.runtimeClass=kata',
    ],
  },
  {
    name: 'a seccomp profile of the nodes',
    settings: [...external, 'toolExecutor.sandbox.seccomp=Localhost', 'toolExecutor.sandbox.seccompFile=rondo.json'],
  },
  {
    name: 'traces',
    settings: [...external, 'tracing.endpoint=http://collector.monitoring:4318', 'tracing.share=0.1'],
  },
  {
    name: 'copies of workspaces in a bucket',
    settings: [
      ...external,
      'toolExecutor.env.SANDBOX_SNAPSHOTS=s3://rondo/workspaces',
      'toolExecutor.env.SANDBOX_S3_ENDPOINT=https://minio.storage:9000',
      'toolExecutor.secret=bucket',
      'agentWorker.env.EXECUTOR_LOST_AFTER_S=60',
    ],
  },
  {
    name: 'what platform teams set',
    settings: [
      ...external,
      'nodeSelector.disk=ssd',
      'tolerations[0].key=agents',
      'topologySpreadConstraints[0].maxSkew=1',
      'topologySpreadConstraints[0].topologyKey=zone',
      'topologySpreadConstraints[0].whenUnsatisfiable=DoNotSchedule',
      'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key=gpu',
      'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator=DoesNotExist',
      'priorityClassName=high',
      'dnsConfig.nameservers={10.0.0.10}',
      'hostAliases[0].ip=10.0.0.11',
      'hostAliases[0].hostnames={models}',
      'caBundle.configMap=authorities',
      'proxy.https=http://proxy:3128',
      'envFrom[0].configMapRef.name=all',
      'extraVolumes[0].name=scratch',
      'extraVolumes[0].emptyDir.medium=Memory',
      'extraVolumeMounts[0].name=scratch',
      'extraVolumeMounts[0].mountPath=/scratch',
      'initContainers[0].name=wait',
      'initContainers[0].image=busybox',
      'extraContainers[0].name=sidecar',
      'extraContainers[0].image=busybox',
      'gateway.service.type=LoadBalancer',
      'gateway.service.spec.externalTrafficPolicy=Local',
      'gateway.podDisruptionBudget.minAvailable=50%',
      'gateway.httpRoute.enabled=true',
      'gateway.httpRoute.parentRefs[0].name=public',
      'migrations.deadlineSeconds=600',
      'networkPolicy.executorEgress[0].to[0].ipBlock.cidr=10.1.0.0/16',
      'image.registry=mirror.corp',
      'image.pullSecrets={mirror}',
      'podSecurityContext.runAsUser=null',
      'labels.team=agents',
      'annotations.owner=agents',
    ],
  },
  {
    name: 'the URI of an operator of Postgres, and KEDA',
    settings: [...external, 'postgres.uri.secret=cluster-app', 'postgres.rolePerService=false', 'autoscaling=keda'],
  },
  {
    name: 'no executors, no policies, no demo model',
    settings: [
      ...external,
      'toolExecutor.enabled=false',
      'networkPolicy.enabled=false',
      'models.demo=false',
      'models.secret=keys',
      'models.keys={OPENAI_API_KEY}',
    ],
  },
];

describe('the Helm chart', () => {
  it('passes helm lint --strict', async () => {
    await run(await prepareHelm(), ['lint', '--strict', chart, '--set', bundled.join(',')]);
  });

  it('renders objects that have the types of the Kubernetes API, and no misspelt field', async () => {
    const objects = (await Promise.all(combinations.map(({ settings }) => render(...settings)))).flat();
    mkdirSync(cache, { recursive: true });
    const file = join(cache, 'helm-objects.mts');
    writeFileSync(file, listObjectTypes(objects));

    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig', file];
    await run(join(root, 'node_modules/.bin/tsc'), options, { cwd: root });
  });

  it('refuses misspelt values, and what cannot work, with a sentence that says what to do', async () => {
    expect(await refusal(...bundled, 'gateway.replica=2')).toContain("additional properties 'replica' not allowed");
    expect(await refusal()).toContain('Set postgres.host to the address of your postgres server');
    expect(await refusal(...bundled, 'models.demo=false')).toContain('There is no model: set models.secret');
    expect(await refusal(...bundled, 'models.secret=keys')).toContain('Set models.keys to the names of the keys');
    expect(await refusal(...bundled, 'gateway.ingress.enabled=true')).toContain('Set gateway.ingress.host');
    expect(await refusal(...bundled, 'toolExecutor.sandbox.seccomp=Localhost')).toContain('seccompFile');
    expect(await refusal(...bundled, 'postgres.parameters=sslmode=verify-full')).toContain('does not match pattern');
    expect(await refusal(...bundled, 'autoscaling=cpu', 'agentWorker.replicas=21')).toContain(
      'Set agentWorker.maxReplicas to at least agentWorker.replicas',
    );
  });

  it.each([
    ...['postgres.port=5433', 'postgres.parameters=?sslmode=verify-full', 'redis.port=6380', 'redis.tls=true'],
    ...['redis.user=rondo', 'nats.port=4223', 'nats.tls=true'],
  ])('refuses %s of bundled servers, to which no service would find', async (setting) => {
    expect(await refusal(...bundled, setting)).toContain(
      `Leave ${setting.split('=')[0]} out, or bundled.enabled false`,
    );
    expect(await refusal(...external, setting)).toBe('rendered');
  });

  it.each([
    ['docs/helm-values.md', helmValuesReference],
    ['deploy/helm/rondo/values.yaml', helmValuesDefaults],
    ['deploy/helm/rondo/values.schema.json', helmValuesSchema],
  ])('has in %s the values of deploy/helm/values.mjs', (file, toContent) => {
    expect(toContent()).toBe(readFileSync(join(root, file), 'utf8'));
  });

  it('has the servers of docker-compose.yml when they are bundled', async () => {
    const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
    const images = [...compose.matchAll(/image: ((postgres|redis|nats):\S+)/g)].map(([, image]) => image).sort();
    const values = load(readFileSync(join(chart, 'values.yaml'), 'utf8'));
    const { bundled: servers } = z
      .object({ bundled: z.object({ images: z.record(z.string(), z.string()) }) })
      .parse(values);

    expect(Object.values(servers.images).sort()).toEqual(images);
  });

  it('gives each executor a user on NATS, with what deploy/nats.conf grants and nothing else', async () => {
    const objects = await render(...bundled, 'toolExecutor.replicas=2');
    const map = objects.find(({ kind }) => kind === 'ConfigMap');
    const { data } = z.object({ data: z.object({ 'rondo.conf': z.string() }) }).parse(map);

    const ids = ['rondo-tool-executor-0', 'rondo-tool-executor-1'];
    expect(data['rondo.conf'].trim()).toBe(composeConfiguration(ids).trim());
  });

  it('ships the alerts, each for the namespace of the release alone', async () => {
    const objects = await render(...bundled, ...monitoring, 'prometheusRule.labels.release=prometheus');
    const rule = objects.find(({ kind }) => kind === 'PrometheusRule');
    const { spec } = z.object({ spec: z.record(z.string(), z.unknown()) }).parse(rule);
    const file = join(cache, 'helm-rules.yaml');
    mkdirSync(cache, { recursive: true });
    writeFileSync(file, JSON.stringify(spec)); // JSON is YAML

    await promtool(['check', 'rules', file], { packagesDirectory: join(root, '.data') });
    const shipped = listRules(spec);
    expect(shipped.map(({ alert }) => alert)).toEqual(alertRules().map(({ alert }) => alert));
    for (const { expr } of shipped) {
      for (const metric of metricsIn(expr)) expect(expr).toContain(`${metric}{namespace="default"`);
      expect(expr).not.toMatch(/rondo_\w+(?![\w{])/);
    }
    expect(rule?.metadata.labels['release']).toBe('prometheus');
  }, 300_000);

  it('ships the dashboard for the sidecar of Grafana', async () => {
    const objects = await render(...bundled, ...monitoring, 'dashboard.label=my_dashboards');
    const map = objects.find(({ metadata }) => metadata.name === 'rondo-dashboard');
    const { data } = z.object({ data: z.object({ 'rondo.json': z.string() }) }).parse(map);

    expect(map?.metadata.labels['my_dashboards']).toBe('1');
    expect(data['rondo.json'].trim()).toBe(readFileSync(join(root, 'deploy/monitoring/dashboard.json'), 'utf8').trim());
  });

  it('runs no tool without limits for each sandbox, unless those of the pod were said to be enough', async () => {
    const limits = async (...settings: string[]) =>
      findValues(
        'SANDBOX_REQUIRE_LIMITS',
        findPods(await render('bundled.enabled=true', ...settings)).get('tool-executor'),
      );

    expect(await limits('toolExecutor.sandbox.limits=sandbox')).toEqual(['1']);
    expect(await limits('toolExecutor.sandbox.limits=pod')).toEqual(['0']);
    expect(await limits('toolExecutor.sandbox.mode=privileged')).toEqual(['1']);
    expect(await limits('toolExecutor.sandbox.limits=pod', 'toolExecutor.env.SANDBOX_REQUIRE_LIMITS=1')).toEqual(['1']);
  });

  it('asks for a choice of limits only where sandboxes run in the pod', async () => {
    const asks = 'Set toolExecutor.sandbox.limits';
    expect(await refusal('bundled.enabled=true')).toContain(asks);
    expect(await refusal('bundled.enabled=true', 'toolExecutor.sandbox.mode=runtime')).toContain(asks);
    expect(await refusal('bundled.enabled=true', 'toolExecutor.enabled=false')).toBe('rendered');
    expect(await refusal('bundled.enabled=true', 'toolExecutor.env.SANDBOX_PROVIDER=daytona')).toBe('rendered');
  });

  it('refuses limits that the pod has not, and a variable that switches those of each sandbox off', async () => {
    const pod = 'toolExecutor.sandbox.limits=pod';
    expect(await refusal('bundled.enabled=true', pod, 'toolExecutor.resources.limits=null')).toContain(
      'Set toolExecutor.resources.limits.memory',
    );
    const off = 'SANDBOX_REQUIRE_LIMITS=0';
    for (const where of ['toolExecutor.env', 'env'])
      expect(await refusal('bundled.enabled=true', 'toolExecutor.sandbox.limits=sandbox', `${where}.${off}`)).toContain(
        'Take SANDBOX_REQUIRE_LIMITS out of the variables',
      );
    expect(await refusal('bundled.enabled=true', pod, `toolExecutor.env.${off}`)).toBe('rendered');
  });

  it('lets the gateway see the addresses of clients behind the ingress, unless told how many proxies there are', async () => {
    const hops = async (...settings: string[]) =>
      findValues('TRUSTED_PROXY_HOPS', findPods(await render(...bundled, ...settings)).get('gateway'));

    expect(await hops()).toEqual([]);
    expect(await hops(...ingress)).toEqual(['1']);
    expect(await hops(...ingress, 'gateway.env.TRUSTED_PROXY_HOPS=2')).toEqual(['2']);
    expect(await hops(...ingress, 'env.TRUSTED_PROXY_HOPS=3')).toEqual(['3']);
  });

  it('has a test that needs a sandbox, where there are any, and none without the demo model', async () => {
    const findTest = async (...settings: string[]) => {
      const found = (await render(...bundled, ...settings)).find(({ metadata }) => metadata.name === 'rondo-demo-run');
      return found && z.object({ spec: pod }).parse(found).spec.containers[0]?.args?.join(' ');
    };

    expect(await findTest()).toContain('mended it');
    expect(await findTest('toolExecutor.enabled=false')).toBe('run --model demo/plain Say something.');
    expect(await findTest('models.demo=false', 'models.secret=keys', 'models.keys={A_KEY}')).toBeUndefined();
  });

  it('has every service listen on the address that a value names', async () => {
    const pods = findPods(await render(...bundled, 'listenAddress=::'));

    for (const service of Object.keys(environments)) {
      expect({ service, host: findValues('HOST', pods.get(service)) }).toEqual({ service, host: ['::'] });
    }
  });

  it('says after the installation how to reach it, and of a test only where there is one', async () => {
    const notes = async (...settings: string[]) => {
      const options = settings.flatMap((setting) => ['--set', setting]);
      const { stdout } = await run(await prepareHelm(), ['install', 'rondo', chart, '--dry-run=client', ...options]);
      return /NOTES:.*/s.exec(String(stdout))?.[0];
    };

    expect(await notes(...bundled)).toMatch(/rondo-gateway 3000:80\n.*\n.*test rondo\n/);
    const other = await notes(
      ...bundled,
      'gateway.service.port=8080',
      'models.demo=false',
      'models.secret=a',
      'models.keys={A}',
    );
    expect(other).toContain('rondo-gateway 3000:8080');
    expect(other).not.toContain('test rondo');
  });
});

describe('attack: the stolen NATS password of an executor', () => {
  const ids = ['agents-tool-executor-0', 'agents-tool-executor-1', 'agents-tool-executor-2'];
  const newSecret = (kept = '') => new Map(keysAndValues(newHelmSecrets({ release: 'agents', executors: 3, kept })));
  const rendered = () => render(...bundled, 'toolExecutor.replicas=3', 'fullnameOverride=agents');

  it('opens nothing as another executor: Secret, pod and configuration have one for each', async () => {
    const objects = await rendered();
    const executor = findPods(objects).get('tool-executor');
    const items = executor?.volumes?.find(({ name }) => name === 'nats-passwords')?.secret?.items ?? [];
    const secret = newSecret();

    expect(items.map(({ path }) => path)).toEqual(ids);
    expect(new Set(items.map(({ key }) => secret.get(key))).size).toBe(ids.length);
    for (const { key, path } of items) {
      expect(secret.get(key)).toBe(executorPassword(secret.get('NATS_EXECUTOR_SECRET') ?? '', path));
      expect(composeConfiguration(ids)).toContain(`{ user: "${path}", password: $${key},`);
      expect(
        findPods(objects)
          .get('nats')
          ?.containers[0]?.env.map(({ name }) => name),
      ).toContain(key);
    }
  });

  it('is the only one that the pod of the executor can read', async () => {
    const executor = findPods(await rendered()).get('tool-executor');
    const [first] = executor?.containers ?? [];

    expect(first?.volumeMounts).toContainEqual({
      ...{ name: 'nats-passwords', mountPath: '/run/nats/password' },
      ...{ subPathExpr: '$(EXECUTOR_ID)', readOnly: true },
    });
    expect(findValues('NATS_URL', executor)).toEqual(['nats://$(EXECUTOR_ID)@agents-nats:4222']);
    const references = first?.env.map(({ valueFrom }) => secretRef.safeParse(valueFrom).data?.secretKeyRef.key) ?? [];
    expect(references.filter((key) => key?.includes('NATS'))).toEqual([]);
  });

  it('stays as it is when passwords of further executors are made', () => {
    const before = newHelmSecrets({ release: 'agents', executors: 1 });
    const after = newSecret(before);

    expect([...after]).toEqual(expect.arrayContaining(keysAndValues(before)));
    expect(after.get('NATS_AGENTS_TOOL_EXECUTOR_2_PASSWORD')).toMatch(/^s[0-9a-f]{64}$/);
  });
});

const keysAndValues = (file: string) =>
  file
    .trim()
    .split('\n')
    .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);

const environments = {
  gateway,
  'agent-worker': agentWorker,
  summarizer,
  'tool-executor': toolExecutor,
  'demo-model': demoModel,
};
const keysOfSecret = newHelmSecrets()
  .split('\n')
  .map((line) => line.split('=')[0]);
/** Not read by a service: their values are put into a URL. */
const partsOfUrls = ['POSTGRES_URI', 'POSTGRES_USER_PASSWORD', 'REDIS_PASSWORD', 'NATS_PASSWORD'];
const secretRef = z.object({ secretKeyRef: z.object({ name: z.string(), key: z.string() }) });

describe.each(combinations)('the pods of the chart with $name', ({ settings }) => {
  let pods: Map<string, z.infer<typeof pod>>;
  beforeAll(async () => {
    pods = findPods(await render(...settings));
  });

  const services = () =>
    Object.entries(environments).flatMap(([name, { shape }]) => {
      const found = pods.get(name);
      const [first] = found?.containers ?? [];
      return found && first ? [{ name, variables: Object.keys(shape), pod: found, container: first }] : [];
    });

  it('give each service only variables that it reads', () => {
    for (const { name, variables, container: given } of services()) {
      const unknown = given.env
        .map((entry) => entry.name)
        .filter((entry) => ![...variables, ...partsOfUrls, ...runtimeVariables].includes(entry));
      expect({ name, unknown }).toEqual({ name, unknown: [] });
    }
  });

  it('run the image of their own, which deploy/Dockerfile builds', () => {
    const own = [...pods].filter(([component]) => !['postgres', 'redis', 'nats'].includes(component));
    for (const [component, { containers }] of own) {
      expect(Object.keys(images)).toContain(component);
      expect(containers[0]?.image).toMatch(new RegExp(`^(mirror.corp/)?rondo-${component}:0.1.0$`));
      expect(containers[0]?.args).toBeUndefined();
    }
  });

  it('take every secret from the Secret, by a key that npm run helm-secrets makes', () => {
    for (const { containers } of pods.values()) {
      for (const { env } of containers) {
        const secret = env.filter(({ name }) => /PASSWORD$|_KEY$|TOKEN|REDISCLI_AUTH/.test(name));
        for (const { value, valueFrom } of secret) {
          expect(value).toBeUndefined();
          expect(keysOfSecret).toContain(secretRef.parse(valueFrom).secretKeyRef.key);
        }
      }
    }
  });

  it('keep the stores from the executor', () => {
    const names = pods.get('tool-executor')?.containers[0]?.env.map(({ name }) => name) ?? [];
    expect(names.filter((name) => /DATABASE|REDIS|POSTGRES|_API_KEY/.test(name))).toEqual([]);
  });

  it('have probes, limits, time to drain, and no rights on the cluster', () => {
    for (const { pod: given, container: first } of services()) {
      expect(first).toMatchObject({ livenessProbe: expect.anything(), readinessProbe: expect.anything() });
      expect(first.resources).toHaveProperty('limits.memory');
      expect(given.automountServiceAccountToken).toBe(false);
      const drain = first.env.find(({ name }) => name === 'DRAIN_MS' || name === 'TOOL_DRAIN_S');
      const drainSeconds = Number(drain?.value ?? 0) / (drain?.name === 'DRAIN_MS' ? 1_000 : 1);
      expect(given.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drainSeconds + 10);
    }
  });

  it('run confined, but for an executor that is made privileged', () => {
    for (const { name, container: first } of services()) {
      const isPrivileged = name === 'tool-executor' && settings.includes('toolExecutor.sandbox.mode=privileged');
      const confined = {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      };
      expect(first.securityContext).toMatchObject(isPrivileged ? { privileged: true } : confined);
    }
  });
});
