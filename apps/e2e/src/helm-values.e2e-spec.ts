import { z } from 'zod';
import { helmValuesSchema } from '../../../deploy/local/documents/helm-values-files.mjs';
import { podSettings } from '../../../deploy/helm/pod-settings.mjs';
import {
  findPods,
  findPodTemplates,
  type KubernetesObject,
  prepareHelm,
  readComponent,
  refusal,
  render,
  renderValues,
} from './rendered-chart';

beforeAll(prepareHelm, 300_000);

/** The components whose pods are of each group of values. */
const componentsByGroup: Record<string, readonly string[]> = {
  gateway: ['gateway'],
  agentWorker: ['agent-worker'],
  summarizer: ['summarizer'],
  toolExecutor: ['tool-executor'],
  demoModel: ['demo-model'],
  migrations: ['migrations'],
  test: ['test'],
  bundled: ['postgres', 'redis', 'nats'],
};
const groups = Object.keys(componentsByGroup);
const everyComponent = Object.values(componentsByGroup).flat().sort();
const ours = everyComponent.filter((component) => !componentsByGroup['bundled']?.includes(component));

const node = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  pattern: z.string().optional(),
  get properties() {
    return z.record(z.string(), node).optional();
  },
});

/** The names of all values, with what the schema says of each. */
function readLeaves(
  { properties = {} }: z.infer<typeof node>,
  path: readonly string[] = [],
): [string, z.infer<typeof node>][] {
  return Object.entries(properties).flatMap(([key, value]) =>
    Object.keys(value.properties ?? {}).length > 0
      ? readLeaves(value, [...path, key])
      : [[[...path, key].join('.'), value] satisfies [string, z.infer<typeof node>]],
  );
}

const leaves = readLeaves(node.parse(JSON.parse(helmValuesSchema())));
const toKey = (name: string) => name.split('.').at(-1) ?? '';
const isPodSetting = (name: string) => toKey(name) in podSettings && name !== 'global';

/** Values that must have a form of their own; each is found in the objects as it is here, or as the second says. */
const special: Record<string, { readonly value: unknown; readonly found?: string }> = {
  'gateway.ingress.path': { value: '/below' },
  'gateway.httpRoute.path': { value: '/route' },
  'gateway.targetCpuPercent': { value: 61 },
  'toolExecutor.autoscaling.maxReplicas': { value: 5, found: 'rondo-tool-executor-4' },
  'toolExecutor.autoscaling.targetPercent': { value: 64, found: '0.64' },
  'toolExecutor.env': { value: { SANDBOX_SNAPSHOTS: 's3://copies' }, found: 's3://copies' },
  'agentWorker.env': { value: { EXECUTOR_LOST_AFTER_S: 66 }, found: '"66"' },
  'toolExecutor.drainSeconds': { value: 123 },
  'toolExecutor.storage': { value: '51Gi' },
  'toolExecutor.replicas': { value: 3, found: 'rondo-tool-executor-2' },
  'toolExecutor.sandbox.seccompFile': { value: 'rondo.json' },
  'bundled.storage': { value: '9Gi' },
  'models.keys': { value: ['A_KEY'] },
  env: { value: { SOME_LIBRARY: 'of-all' }, found: 'of-all' },
  'tracing.endpoint': { value: 'http://collector:4318' },
  'tracing.share': { value: 0.25 },
  'podMonitor.interval': { value: '47s' },
  'proxy.http': { value: 'http://proxy:3128' },
  'proxy.https': { value: 'http://proxy:3129' },
  'proxy.noProxy': { value: ['.corp'] },
  'image.pullSecrets': { value: ['pull-secret'] },
  'global.imagePullSecrets': { value: [{ name: 'global-pull-secret' }], found: 'global-pull-secret' },
  fullnameOverride: { value: 'other-name' },
};

/** A value that no other has, and what of it must be found in the objects. */
function createMark(name: string, index: number, { type, enum: choices, pattern }: z.infer<typeof node>) {
  const own = special[name];
  const text = `mark${index}x`;
  if (own) return { value: own.value, found: own.found ?? JSON.stringify(own.value).replaceAll(/[[\]"]/g, '') };
  if (choices || type === 'boolean' || pattern) return undefined; // each has a test of its own
  if (type === 'integer') return { value: 7_000 + index, found: String(7_000 + index) };
  if (name.endsWith('.env')) return { value: { [`MARK_${index}`]: text }, found: text };
  if (type === 'array')
    return {
      value: toKey(name).endsWith('osts') || toKey(name) === 'hostnames' ? [text] : [{ name: text }],
      found: text,
    };
  if (type === 'object') return { value: { [text]: text }, found: text };
  return { value: text, found: text };
}

const marks = leaves.flatMap(([name, said], index) => {
  const mark = createMark(name, index, said);
  return mark ? [{ name, ...mark }] : [];
});

/** What the objects need so that they have all parts. */
const everything = {
  ...{
    'bundled.enabled': true,
    'toolExecutor.sandbox.limits': 'pod',
    'toolExecutor.sandbox.seccomp': 'Localhost',
    'toolExecutor.sandbox.seccompFile': 'rondo.json',
    autoscaling: 'keda',
    'models.demo': true,
  },
  ...{ 'gateway.ingress.enabled': true, 'gateway.ingress.host': 'rondo.example', 'gateway.httpRoute.enabled': true },
  ...{ 'podMonitor.enabled': true, 'prometheusRule.enabled': true, 'dashboard.enabled': true },
  'gateway.httpRoute.parentRefs': [{ name: 'public' }],
  ...{ 'toolExecutor.autoscaling.enabled': true, 'toolExecutor.autoscaling.prometheus': 'http://prometheus:9090' },
  ...{ 'toolExecutor.env.SANDBOX_SNAPSHOTS': 's3://copies', 'agentWorker.env.EXECUTOR_LOST_AFTER_S': 60 },
};

/** Values that stand for others, so that both cannot arrive at once. */
const isAlternative = (name: string) =>
  [
    'caBundle.secret',
    'fullnameOverride',
    'serviceAccountName',
    'postgres.uri.secret',
    'postgres.uri.key',
    ...['host', 'port'].flatMap((part) => ['postgres', 'redis', 'nats'].map((server) => `${server}.${part}`)),
    'redis.user',
  ].includes(name) ||
  (groups.includes(name.split('.')[0] ?? '') &&
    ['image', 'minAvailable', 'replicas'].includes(toKey(name)) &&
    name !== 'toolExecutor.replicas');

/** Those of one service hide what the top says of a text, so they are rendered apart. */
const ofPods = marks.filter(({ name }) => isPodSetting(name));
/** Registries are hidden by images of services, Sentinels and servers of NATS by a host: they have tests of their own. */
const others = marks.filter(
  ({ name }) => !isPodSetting(name) && !/egistry$|^redis\.(sentinels|primary)$|^nats\.servers$/.test(name),
);
const renderMarks = (chosen: typeof marks, more: Readonly<Record<string, unknown>> = {}) =>
  renderValues({ ...everything, ...Object.fromEntries(chosen.map(({ name, value }) => [name, value])), ...more });

describe('every value of the chart arrives', () => {
  it('in all pods, if it is said of pods at the top', async () => {
    const atTop = ofPods.filter(({ name }) => !name.includes('.'));
    const templates = findPodTemplates(await renderMarks(atTop));

    const arrived = atTop.map(({ name, found }) => ({ name, in: [...templates].filter(has(found)).map(first).sort() }));
    const isOfServices = (name: string) => /[sS]ecurityContext/.test(name);
    expect(arrived).toEqual(atTop.map(({ name }) => ({ name, in: isOfServices(name) ? ours : everyComponent })));
  });

  it.each(groups)('in the pods of %s alone, if it is said of them', async (group) => {
    const own = ofPods.filter(({ name }) => name.startsWith(`${group}.`));
    const templates = findPodTemplates(await renderMarks(own));

    const arrived = own.map(({ name, found }) => ({ name, in: [...templates].filter(has(found)).map(first).sort() }));
    expect(own).toHaveLength(Object.keys(podSettings).length);
    expect(arrived).toEqual(own.map(({ name }) => ({ name, in: [...(componentsByGroup[group] ?? [])].sort() })));
  });

  it('in some object, and only in those of its service, if it is said of one', async () => {
    const alternatives = others.filter(({ name }) => isAlternative(name));
    const objects = [
      ...(await renderMarks(others.filter(({ name }) => !isAlternative(name)))),
      ...(await renderMarks(alternatives, {
        ...{ 'bundled.enabled': false, autoscaling: 'none', 'toolExecutor.autoscaling.enabled': false },
      })),
    ];
    const texts = objects.map((object) => ({ component: readComponent(object), text: JSON.stringify(object) }));

    const lost = others.filter(({ found }) => !texts.some(({ text }) => text.includes(found)));
    expect(lost.map(({ name }) => name)).toEqual([]);
    for (const { name, found } of others.filter(({ name: one }) =>
      /\.(labels|annotations|resources|image|env)$/.test(one),
    )) {
      const components = texts.filter(({ text }) => text.includes(found)).map(({ component }) => component);
      const wanted = componentsByGroup[name.split('.')[0] ?? ''];
      if (wanted)
        expect({ name, others: components.filter((one) => !wanted.includes(one)) }).toEqual({ name, others: [] });
    }
  });

  it('and labels and annotations of every object are on every object, pods among them', async () => {
    const objects = await renderValues({ ...everything, labels: { team: 'mark1x' }, annotations: { owner: 'mark2x' } });

    for (const { kind, metadata } of objects) {
      expect({ kind, labels: metadata.labels }).toMatchObject({ kind, labels: { team: 'mark1x' } });
      expect({ kind, annotations: metadata.annotations }).toMatchObject({ annotations: { owner: 'mark2x' } });
    }
    for (const [component, template] of findPodTemplates(objects)) {
      expect({ component, text: JSON.stringify(template) }).toMatchObject({
        text: expect.stringMatching(/mark1x.*|mark2x/),
      });
    }
  });
});

const has =
  (mark: string) =>
  ([, template]: [string, unknown]) =>
    JSON.stringify(template).includes(mark);
const first = ([component]: [string, unknown]) => component;

const servers = ['redis.host=redis.example', 'nats.host=nats.example', 'toolExecutor.sandbox.limits=pod'];
const bundled = ['toolExecutor.sandbox.limits=pod', 'bundled.enabled=true'];
const readVariable = (objects: readonly KubernetesObject[], component: string, name: string) =>
  findPods(objects)
    .get(component)
    ?.containers[0]?.env.find((variable) => variable.name === name);

describe('the chart, as platform teams set it', () => {
  it('leaves the users of pods to OpenShift, which admits them as restricted', async () => {
    const users = ['runAsUser', 'runAsGroup', 'fsGroup'].map((field) => `podSecurityContext.${field}=null`);
    const objects = await render(
      ...servers,
      'postgres.host=pg.example',
      ...users,
      'toolExecutor.sandbox.mode=runtime',
      'toolExecutor.env.SANDBOX_PROVIDER=daytona',
    );

    for (const [component, { spec }] of findPodTemplates(objects)) {
      expect({ component, text: JSON.stringify(spec) }).toMatchObject({
        text: expect.not.stringMatching(
          /runAsUser|runAsGroup|fsGroup|hostPath|hostUsers|procMount|Unconfined|privileged/,
        ),
      });
      expect({ component, spec }).toMatchObject({
        spec: {
          containers: [{ securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
        },
      });
      expect({ component, text: JSON.stringify(spec) }).toMatchObject({
        text: expect.stringContaining('"RuntimeDefault"'),
      });
    }
  });

  it('writes large numbers as numbers', async () => {
    const objects = await renderValues({
      ...everything,
      podSecurityContext: { runAsUser: 1_000_650_000 },
      env: { FILE_LIMIT_BYTES: 110_000_000 },
    });

    expect(findPods(objects).get('gateway')?.securityContext).toMatchObject({ runAsUser: 1_000_650_000 });
    expect(readVariable(objects, 'gateway', 'FILE_LIMIT_BYTES')?.value).toBe('110000000');
  });

  it('lets false, 0 and null of a service replace what the top says', async () => {
    const objects = await renderValues({
      ...everything,
      'summarizer.securityContext': { readOnlyRootFilesystem: false },
      'summarizer.podSecurityContext': { runAsGroup: 0, seccompProfile: null },
    });
    const summarizer = findPods(objects).get('summarizer');

    expect(summarizer?.containers[0]?.securityContext).toMatchObject({
      readOnlyRootFilesystem: false,
      allowPrivilegeEscalation: false,
    });
    expect(summarizer?.securityContext).toEqual({ runAsNonRoot: true, runAsUser: 1000, runAsGroup: 0, fsGroup: 1000 });
  });

  it.each([
    ['caBundle.configMap', { configMap: { name: 'authorities', items: [{ key: 'ca.crt', path: 'ca.crt' }] } }],
    ['caBundle.secret', { secret: { secretName: 'authorities', items: [{ key: 'ca.crt', path: 'ca.crt' }] } }],
  ])('mounts the certificates of %s in all its pods, whose services read them', async (name, source) => {
    const objects = await renderValues({ ...everything, [name]: 'authorities' });

    for (const [component, found] of findPods(objects)) {
      if (!ours.includes(component)) continue;
      expect(found.volumes).toContainEqual({ name: 'ca-bundle', ...source });
      expect(found.containers[0]?.volumeMounts).toContainEqual({
        name: 'ca-bundle',
        mountPath: '/run/ca',
        readOnly: true,
      });
      expect(readVariable(objects, component, 'NODE_EXTRA_CA_CERTS')?.value).toBe('/run/ca/ca.crt');
    }
    expect(await refusal(...bundled, `${name}=a`, 'env.NODE_EXTRA_CA_CERTS=/x')).toContain(
      'Take NODE_EXTRA_CA_CERTS out of env',
    );
  });

  it('sends requests through the proxies, but for those inside the cluster', async () => {
    const objects = await renderValues({
      ...everything,
      'proxy.https': 'http://proxy.corp:3128',
      'proxy.noProxy': ['.corp'],
    });

    for (const component of ours.filter((one) => one !== 'test')) {
      expect(readVariable(objects, component, 'HTTPS_PROXY')?.value).toBe('http://proxy.corp:3128');
      expect(readVariable(objects, component, 'NO_PROXY')?.value?.split(',')).toEqual(
        expect.arrayContaining(['.svc', 'rondo-demo-model', '.corp']),
      );
    }
    const egress = objects.find(({ metadata }) => metadata.name === 'rondo-tool-executor-egress');
    expect(JSON.stringify(egress)).toContain('{"ports":[{"port":3128,"protocol":"TCP"}]}');
  });

  it('reads a variable from a Secret', async () => {
    const valueFrom = { secretKeyRef: { name: 'proxies', key: 'url' } };
    const objects = await renderValues({
      ...everything,
      env: { HTTPS_PROXY: { valueFrom } },
      'gateway.env': { OIDC_ISSUER: { valueFrom } },
    });

    expect(readVariable(objects, 'tool-executor', 'HTTPS_PROXY')?.valueFrom).toEqual(valueFrom);
    expect(readVariable(objects, 'gateway', 'OIDC_ISSUER')?.valueFrom).toEqual(valueFrom);
  });

  it.each([
    ['image.registry=mirror.corp', 'mirror.corp/rondo-gateway:0.1.0', 'mirror.corp/postgres:17-alpine'],
    ['global.imageRegistry=mirror.corp/', 'mirror.corp/rondo-gateway:0.1.0', 'mirror.corp/postgres:17-alpine'],
    ['gateway.image=a.corp/gateway@sha256:12', 'a.corp/gateway@sha256:12', 'postgres:17-alpine'],
  ])('takes images from where %s says', async (setting, gateway, postgres) => {
    const pods = findPods(await render(...bundled, setting));

    expect(pods.get('gateway')?.containers[0]?.image).toBe(gateway);
    expect(pods.get('postgres')?.containers[0]?.image.split('@')[0]).toBe(postgres);
  });

  it('pulls images of all its pods with the Secrets of its own and of a chart that contains it', async () => {
    const settings = { 'image.pullSecrets': ['own'], 'global.imagePullSecrets': ['text', { name: 'object' }] };

    for (const { imagePullSecrets } of findPods(await renderValues({ ...everything, ...settings })).values()) {
      expect(imagePullSecrets).toEqual([{ name: 'own' }, { name: 'text' }, { name: 'object' }]);
    }
  });

  it.each([
    ['gateway.podDisruptionBudget.minAvailable=50%', { minAvailable: '50%' }],
    ['gateway.podDisruptionBudget.minAvailable=0', { minAvailable: 0 }],
    ['gateway.podDisruptionBudget.maxUnavailable=2', { maxUnavailable: 2 }],
    ['gateway.podDisruptionBudget.enabled=false', undefined],
  ])('keeps as many gateways as %s says', async (setting, wanted) => {
    const budget = (await render(...bundled, setting)).find(
      ({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name === 'rondo-gateway',
    );
    expect(budget?.['spec']).toEqual(wanted && { ...wanted, selector: expect.anything() });
  });

  it('routes by an HTTPRoute, and refuses one without a Gateway', async () => {
    const route = (await renderValues(everything)).find(({ kind }) => kind === 'HTTPRoute');

    expect(route?.['spec']).toEqual({
      parentRefs: [{ name: 'public' }],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          backendRefs: [{ name: 'rondo-gateway', port: 80 }],
          timeouts: { request: '0s' },
        },
      ],
    });
    expect(await refusal(...bundled, 'gateway.httpRoute.enabled=true')).toContain('Set gateway.httpRoute.parentRefs');
  });

  it('takes the URI of an operator for the owner, and roles of its own for the services', async () => {
    const objects = await render(...servers, 'postgres.host=pg.example', 'postgres.uri.secret=cluster-app');

    const uri = { secretKeyRef: { name: 'cluster-app', key: 'uri' } };
    expect(readVariable(objects, 'migrations', 'POSTGRES_URI')?.valueFrom).toEqual(uri);
    expect(readVariable(objects, 'migrations', 'DATABASE_URL')?.value).toBe('$(POSTGRES_URI)');
    expect(readVariable(objects, 'migrations', 'POSTGRES_GATEWAY_PASSWORD')).toBeDefined();
    expect(readVariable(objects, 'gateway', 'DATABASE_URL')?.value).toContain('@pg.example:5432/rondo');
    expect(await refusal(...servers, 'postgres.uri.secret=cluster-app')).toContain('Set postgres.host');
    expect(await refusal(...bundled, 'postgres.uri.secret=cluster-app')).toContain('Leave postgres.uri.secret empty');
    expect(await refusal(...bundled, 'postgres.rolePerService=false')).toContain('Set postgres.uri.secret');
  });

  it('gives every service the URI of an operator, where they have no roles of their own', async () => {
    const shared = ['postgres.uri.secret=hippo', 'postgres.uri.key=pgbouncer-uri', 'postgres.rolePerService=false'];
    const more = ['postgres.parameters=?sslmode=verify-full', 'autoscaling=keda'];
    const objects = await render(...servers, ...shared, ...more);

    const uri = { secretKeyRef: { name: 'hippo', key: 'pgbouncer-uri' } };
    for (const component of ['gateway', 'agent-worker', 'summarizer', 'migrations']) {
      expect(readVariable(objects, component, 'POSTGRES_URI')?.valueFrom).toEqual(uri);
      expect(readVariable(objects, component, 'DATABASE_URL')?.value).toBe('$(POSTGRES_URI)?sslmode=verify-full');
    }
    expect(JSON.stringify(objects)).not.toMatch(/POSTGRES_\w*PASSWORD/);
    expect(objects.find(({ kind }) => kind === 'TriggerAuthentication')?.['spec']).toEqual({
      secretTargetRef: [{ parameter: 'connection', name: 'hippo', key: 'pgbouncer-uri' }],
    });
  });

  it.each([
    ['?sslmode=no-verify', 'require'],
    ['?sslmode=verify-full', 'verify-full'],
    ['', 'prefer'],
  ])('tells KEDA of %s in a word that libpq has', async (parameters, word) => {
    const settings = ['postgres.host=db', `postgres.parameters=${parameters}`, 'autoscaling=keda'];
    const scaled = (await render(...servers, ...settings)).find(({ kind }) => kind === 'ScaledObject');

    expect(scaled?.['spec']).toMatchObject({ triggers: [{ metadata: { sslmode: word } }] });
  });

  it.each([
    [
      ['redis.host=redis.example', 'redis.user=rondo', 'redis.database=2'],
      'redis://rondo:$(REDIS_PASSWORD)@redis.example:6379/2',
    ],
    [
      ['redis.sentinels={a:26379,b:26379}', 'redis.primary=main', 'redis.tls=true'],
      'rediss+sentinel://:$(REDIS_PASSWORD)@a:26379,b:26379/main',
    ],
  ])('reaches Redis as %j says', async (settings, url) => {
    const others = ['postgres.host=pg.example', 'nats.host=nats.example', 'toolExecutor.sandbox.limits=pod'];

    expect(readVariable(await render(...others, ...settings), 'gateway', 'REDIS_URL')?.value).toBe(url);
  });

  it('reaches each server of a cluster of NATS, also from executors', async () => {
    const others = ['postgres.host=pg.example', 'redis.host=redis.example', 'toolExecutor.sandbox.limits=pod'];
    const objects = await render(...others, 'nats.servers={n1:4222,n2:4223}', 'nats.tls=true');

    const read = (component: string) => readVariable(objects, component, 'NATS_URL')?.value;
    expect(read('gateway')).toBe('tls://gateway:$(NATS_PASSWORD)@n1:4222,n2:4223');
    expect(read('tool-executor')).toBe('tls://$(EXECUTOR_ID)@n1:4222,n2:4223');
    const egress = objects.find(({ metadata }) => metadata.name === 'rondo-tool-executor-egress')?.['spec'];
    for (const port of [4222, 4223])
      expect(egress).toHaveProperty('egress', expect.arrayContaining([{ ports: [{ port, protocol: 'TCP' }] }]));
  });
});
