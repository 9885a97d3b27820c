import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  argumentsSchema,
  demoModels,
  profiles,
  readProviders,
  tools,
  usualOutputCharacters,
  whyNotConfigured,
} from '@rondo/domain';
import { modelVariables } from '@rondo/platform';
import { z } from 'zod';
import { allNatsPermissions } from '@rondo/messaging';
import { composeSecrets } from '../../../deploy/local/servers/secret-variables.mjs';
import { toExample, withTables } from '../../../deploy/local/documents/configuration-reference.mjs';
import { environmentsPage } from '../../../deploy/local/documents/environments.mjs';
import { composeConfiguration } from '../../../deploy/local/servers/nats-server-configuration.mjs';
import { serviceEnvironment } from '../../../deploy/local/services/service-environment.mjs';
import { toolReference } from '../../../deploy/local/documents/tool-reference.mjs';
import { environment as agentWorker } from '../../agent-worker/src/environment';
import { environment as demoModel } from '../../demo-model/src/config';
import { parseModelName } from '../../demo-model/src/script/script';
import { scripts } from '../../demo-model/src/script-catalog';
import { environment as gateway } from '../../gateway/src/config';
import { environment as summarizer } from '../../summarizer/src/config';
import { environment as toolExecutor } from '../../tool-executor/src/config';
import { containerEnvironment } from './compose-file';

const root = resolve(__dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const environments = {
  gateway,
  'agent-worker': agentWorker,
  summarizer,
  'tool-executor': toolExecutor,
  'demo-model': demoModel,
};

it('knows the models of the demo server', () => {
  expect([...demoModels].sort()).toEqual([...scripts.keys()].sort());
});

it.each(demoModels)('refuses the parameters of demo/%s that the demo server refuses', (model) => {
  const parameters =
    'tokens calls seconds turns identical output_bytes times retry_after_s after_chunks agents delay_ms pace_ms chunk_chars context_limit other';
  const values =
    '-1 0 1 1.5 2 100 101 1000 1001 3600 3601 100000 100001 600000 600001 1000000 1000001 01 a+b a++b ' +
    Array.from({ length: 21 }, () => 'a').join('+');
  const pairs = parameters.split(' ').flatMap((name) => values.split(' ').map((value) => `:${name}=${value}`));
  const providers = readProviders({ DEMO_MODEL_URL: 'http://demo' });
  const isRefusedByServer = (id: string): boolean => {
    try {
      const { script, parameters: given } = parseModelName(id);
      scripts.get(script)?.checkParameters(given);
      return false;
    } catch {
      return true;
    }
  };

  for (const id of ['', ':', ':x', ':delay_ms=', ':delay_ms=1,delay_ms=1', ...pairs].map((end) => `${model}${end}`)) {
    const isRefused = whyNotConfigured(`demo/${id}`, providers) !== undefined;
    expect([id, isRefused]).toEqual([id, isRefusedByServer(id)]);
  }
});

describe('the reference of the configuration', () => {
  it('is what npm run docs generates from the schemas', () => {
    expect(withTables(read('docs/configuration.md'), environments)).toBe(read('docs/configuration.md'));
    expect(toExample(environments)).toBe(read('.env.example'));
  });

  it('has a valid example of a model server', () => {
    const { example } = z.object({ example: z.string() }).parse(modelVariables.MODEL_PROVIDERS.meta());

    const providers = readProviders({ MODEL_PROVIDERS: example, VLLM_KEY: 'k' });

    expect(whyNotConfigured('vllm/llama3', providers)).toBeUndefined();
    expect(read('.env.example')).toContain(`\n#MODEL_PROVIDERS='${example}'\n`);
  });
});

it('the page of all tools is what npm run docs generates from the catalog', () => {
  expect(toolReference({ tools, profiles, argumentsSchema, usualOutputCharacters })).toBe(read('docs/tools.md'));
});

it('the page of environments is what npm run docs generates, and names commands that there are', () => {
  expect(environmentsPage(root)).toBe(read('docs/environments.md'));
});

describe('the configuration of the servers', () => {
  it('has the NATS permissions that npm run docs generates from the code', () => {
    expect(JSON.parse(read('deploy/nats-permissions.json'))).toEqual(allNatsPermissions());
    expect(composeConfiguration()).toBe(read('deploy/nats.conf'));
  });

  it('has no default passwords: docker-compose.yml', () => {
    const secrets = [...read('docker-compose.yml').matchAll(/\$\{([A-Z_]*(?:PASSWORD|ADMIN_KEY))(.*?)\}/g)];

    expect(new Set(secrets.map(([, name]) => name))).toEqual(new Set(composeSecrets));
    expect(secrets.filter(([, , otherwise]) => otherwise !== ':?')).toEqual([]);
  });
});

describe('the environment of a container of docker-compose.yml', () => {
  const secrets = Object.fromEntries(composeSecrets.map((name) => [name, 'a-secret-of-some-length']));

  it('lets the executor run tools, as npm start and the chart with limits of the pod do', () => {
    const { SANDBOX_REQUIRE_LIMITS: usual } = containerEnvironment('tool-executor', secrets);
    const { SANDBOX_REQUIRE_LIMITS: strict } = containerEnvironment('tool-executor', {
      ...secrets,
      SANDBOX_REQUIRE_LIMITS: '1',
    });

    expect({ usual, strict }).toEqual({ usual: '0', strict: '1' });
    expect(serviceEnvironment('tool-executor', { inherited: {}, facts: {} })).toMatchObject({
      SANDBOX_REQUIRE_LIMITS: '0',
    });
  });

  it.each(Object.keys(environments) as (keyof typeof environments)[])('is one with which %s starts', (service) => {
    const inImage = { HOST: '0.0.0.0', PORT: '3000', SANDBOX_ROOT: '/data/sandboxes', EXECUTOR_ID_FILE: '/data/id' };

    const given = Object.entries({ ...inImage, ...containerEnvironment(service, secrets) });

    const parsed = environments[service].safeParse(Object.fromEntries(given.filter(([, value]) => value !== '')));

    expect(parsed.error?.issues ?? []).toEqual([]);
  });
});
