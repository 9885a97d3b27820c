import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CORE_SCHEMA, loadAll } from 'js-yaml';
import { z } from 'zod';
import { helmProgram } from '../../../deploy/local/containers/helm.mjs';
import { ProgramError, run } from '../../../deploy/local/run-program.mjs';
import { composeSecrets } from '../../../deploy/local/servers/secret-variables.mjs';
import { serviceEnvironment } from '../../../deploy/local/services/service-environment.mjs';
import {
  chartVariables,
  composeVariables,
  toDeclaredVariables,
  isDecidedBy,
  listPassedVariables,
  runtimeVariables,
} from '../../../deploy/local/services/service-variables.mjs';
import type { ServiceName } from '../../../deploy/local/services/services.mjs';
import { environment as agentWorker } from '../../agent-worker/src/environment';
import { environment as demoModel } from '../../demo-model/src/config';
import { environment as gateway } from '../../gateway/src/config';
import { environment as summarizer } from '../../summarizer/src/config';
import { environment as toolExecutor } from '../../tool-executor/src/config';
import { containerEnvironment } from './compose-file';

const root = resolve(__dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const environments: Record<ServiceName, { shape: object }> = {
  gateway,
  'agent-worker': agentWorker,
  summarizer,
  'tool-executor': toolExecutor,
  'demo-model': demoModel,
};
const services = Object.keys(environments) as ServiceName[];
const chartValue: Record<ServiceName, string> = {
  gateway: 'gateway',
  'agent-worker': 'agentWorker',
  summarizer: 'summarizer',
  'tool-executor': 'toolExecutor',
  'demo-model': 'demoModel',
};

/** The rows of docs/configuration.md: each variable with the services that it is of. */
function readRows(): { name: string; of: ServiceName[] }[] {
  const [, tables = ''] = read('docs/configuration.md').split('<!-- `npm run docs` writes from here');
  const sections = tables.split('\n## ').slice(1);
  return sections.flatMap((section) => {
    const title = section.split('\n')[0] ?? '';
    return [...section.matchAll(/^\| `([A-Z0-9_]+)` \|(?: ([a-z, -]+) \|)?/gm)].map(([, name = '', of = '']) => ({
      name,
      of: (title === 'Several services' ? of.split(', ') : [title]) as ServiceName[], // headings and cells are names of services
    }));
  });
}

const rows = readRows();
const pairs = rows.flatMap(({ name, of }) => of.map((service) => ({ name, service })));
const secrets = Object.fromEntries(composeSecrets.map((name) => [name, 'secret']));

describe('which variables reach which service', () => {
  it('is what npm run docs generates from the schemas', () => {
    expect(toDeclaredVariables(environments)).toBe(read('deploy/service-variables.json'));
    expect(composeVariables()).toBe(read('deploy/compose-variables.yml'));
    expect(chartVariables()).toBe(read('deploy/helm/rondo/files/variables.json'));
  });

  it('is read from a document with every variable of every service', () => {
    const declared = services.flatMap((service) =>
      Object.keys(environments[service].shape).map((name) => `${service} ${name}`),
    );
    expect(pairs.map(({ name, service }) => `${service} ${name}`).sort()).toEqual(declared.sort());
  });

  it('npm start: each documented variable reaches its service, unless it is decided there', () => {
    const lost = pairs.filter(({ name, service }) => {
      const { [name]: value } = serviceEnvironment(service, { inherited: { [name]: 'V' }, facts: {} });
      return value !== 'V' && !isDecidedBy('npm start', name);
    });
    expect(lost).toEqual([]);
  });

  it('Compose: the same', () => {
    const lost = pairs.filter(({ name, service }) => {
      const { [name]: value } = containerEnvironment(service, { ...secrets, [name]: 'V' });
      return value !== 'V' && !isDecidedBy('compose', name);
    });
    expect(lost).toEqual([]);
  });

  it.each(['npm start', 'compose'] as const)('%s: nothing else reaches a service, no secret of another', (way) => {
    const everything = Object.fromEntries(
      [...rows.map(({ name }) => name), 'UNKNOWN', 'AWS_SECRET_ACCESS_KEY'].map((n) => [n, 'V']),
    );
    for (const service of services) {
      const given =
        way === 'compose'
          ? containerEnvironment(service, { ...everything, ...secrets })
          : serviceEnvironment(service, { inherited: everything, facts: {} });
      const known = [
        ...Object.keys(environments[service].shape),
        ...listPassedVariables(way)[service],
        'NODE_ENV',
        'LOG_LEVEL',
      ];
      expect({ service, more: Object.keys(given).filter((name) => !known.includes(name)) }).toEqual({
        service,
        more: [],
      });
    }
  });

  it.each(runtimeVariables)('%s, which the runtime reads, reaches every service in every way', (name) => {
    for (const service of services) {
      expect(serviceEnvironment(service, { inherited: { [name]: 'V' }, facts: {} })).toMatchObject({ [name]: 'V' });
      const inContainer = name === 'NODE_EXTRA_CA_CERTS' ? '/run/ca/ca.crt' : 'V'; // where Compose mounts the file
      expect(containerEnvironment(service, { ...secrets, [name]: 'V' })).toMatchObject({ [name]: inContainer });
      expect(listPassedVariables('chart')[service]).toContain(name);
    }
  });

  it('npm start: the keys that MODEL_PROVIDERS names reach those who call models, and their names the gateway', () => {
    const inherited = {
      MODEL_PROVIDERS: '[{"name":"vllm","base_url":"http://gpu/v1","api_key_variable":"VLLM_KEY"}]',
      VLLM_KEY: 'k',
      TAVILY_API_KEY: 't',
    };
    const names = (service: ServiceName) => Object.keys(serviceEnvironment(service, { inherited, facts: {} }));

    expect(services.filter((service) => names(service).includes('VLLM_KEY'))).toEqual(['agent-worker', 'summarizer']);
    expect(services.filter((service) => names(service).includes('TAVILY_API_KEY'))).toEqual(['tool-executor']);
    expect(serviceEnvironment('gateway', { inherited, facts: {} })).toMatchObject({ MODEL_KEYS_PRESENT: 'VLLM_KEY' });
  });
});

const anObject = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
  spec: z.looseObject({}).optional(),
});
const pods = z.object({
  template: z.object({
    spec: z.object({
      containers: z.array(z.object({ env: z.array(z.object({ name: z.string(), value: z.string().optional() })) })),
    }),
  }),
});

describe('the chart', () => {
  const usual = ['bundled.enabled=true', 'toolExecutor.sandbox.limits=pod'];
  let helm: string;
  beforeAll(async () => {
    helm = await helmProgram(join(root, '.data/packages/helm-4'));
  }, 300_000);

  /** The variables of the container of each service, in the order of the chart. */
  async function render(...settings: string[]) {
    const sets = [...usual.flatMap((set) => ['--set', set]), ...settings.flatMap((set) => ['--set-string', set])];
    const { stdout } = await run(helm, ['template', 'rondo', join(root, 'deploy/helm/rondo'), ...sets]);
    const objects = loadAll(stdout, { schema: CORE_SCHEMA })
      .filter(Boolean)
      .map((one) => anObject.parse(one));
    return (service: ServiceName) => {
      const found = objects.find(
        ({ kind, metadata }) =>
          ['Deployment', 'StatefulSet'].includes(kind) && metadata.labels['app.kubernetes.io/component'] === service,
      );
      return pods.parse(found?.spec).template.spec.containers[0]?.env ?? [];
    };
  }

  const refusal = (...settings: string[]) =>
    render(...settings).then(
      () => 'rendered',
      (error: unknown) => (error instanceof ProgramError ? error.message : String(error)),
    );

  it('gives each service every variable that it declares, once, by the values of that service', async () => {
    const passed = pairs.filter(({ name }) => !isDecidedBy('chart', name));
    const findVariables = await render(...passed.map(({ name, service }) => `${chartValue[service]}.env.${name}=V`));

    for (const { name, service } of passed) {
      const given = findVariables(service).filter((variable) => variable.name === name);
      expect({ service, name, given }).toEqual({ service, name, given: [{ name, value: 'V' }] });
    }
  });

  it('gives a variable of all services to those that declare it', async () => {
    const passed = rows.filter(({ name }) => !isDecidedBy('chart', name));
    const findVariables = await render(...passed.map(({ name }) => `env.${name}=V`), 'env.LIBRARY_LIMIT=V');

    for (const service of services) {
      const names = findVariables(service).map(({ name }) => name);
      const wanted = passed.filter(({ of }) => of.includes(service)).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining([...wanted, 'LIBRARY_LIMIT']));
      const others = passed.filter(({ of, name }) => !of.includes(service) && !runtimeVariables.includes(name));
      expect(names.filter((name) => others.some((other) => other.name === name))).toEqual([]);
      expect(names.length).toBe(new Set(names).size);
    }
  });

  it.each([
    ['gateway.env.DATABASE_URL=postgresql://elsewhere', 'Take DATABASE_URL out of gateway.env'],
    ['env.METRICS_TOKEN=open', 'Take METRICS_TOKEN out of env'],
    ['agentWorker.env.RUN_CONCURRENCY=3', 'Take RUN_CONCURRENCY out of agentWorker.env'],
  ])('refuses %s, which it sets itself', async (setting, words) => {
    expect(await refusal(setting)).toContain(words);
  });

  it('refuses a variable of traces beside the values of tracing', async () => {
    const own = 'gateway.env.OTEL_TRACES_SAMPLER=always_on';

    expect(await refusal(own)).toBe('rendered');
    expect(await refusal(own, 'tracing.endpoint=http://collector:4318')).toContain('Take OTEL_TRACES_SAMPLER out of');
  });
});
