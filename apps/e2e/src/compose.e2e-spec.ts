import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2019 from 'ajv/dist/2019';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { z } from 'zod';
import { composeSchema } from '../../../deploy/local/containers/compose-schema.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { composeSecrets } from '../../../deploy/local/servers/secret-variables.mjs';
import { images } from '../../../deploy/images/contents.mjs';
import { serviceVariablesOfTools } from '../../tool-executor/src/services/service-settings';
import { containerEnvironment } from './compose-file';

const strings = z.array(z.string()).default([]);
const service = z.object({
  image: z.string(),
  build: z.object({ target: z.string() }).optional(),
  profiles: strings,
  networks: strings,
  volumes: strings,
  depends_on: z.record(z.string(), z.unknown()).default({}),
  extends: z.unknown().optional(),
  cap_drop: strings,
  security_opt: strings,
  read_only: z.boolean().default(false),
  tmpfs: strings,
});
const document = load(readFileSync(join(repoRoot, 'docker-compose.yml'), 'utf8'), {
  schema: CORE_SCHEMA.withTags(mergeTag),
});
const compose = z
  .object({
    services: z.record(z.string(), service),
    networks: z.record(z.string(), z.unknown()),
    volumes: z.record(z.string(), z.unknown()),
  })
  .parse(document);
const services = Object.entries(compose.services);
const ofThisRepository = services.filter(([, { build }]) => build);

/** The errors that the Compose specification finds, as the path and what is wrong there. */
async function readErrors(file: unknown): Promise<string[]> {
  const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true });
  const validate = ajv.compile(await composeSchema(join(repoRoot, '.data/packages/compose-schema')));
  validate(file);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}

describe('docker-compose.yml', () => {
  it('is what the Compose specification allows', async () => {
    expect(await readErrors(document)).toEqual([]);
  });

  it('mounts the certificates of NODE_EXTRA_CA_CERTS in every container of this repository', async () => {
    const variables = load(readFileSync(join(repoRoot, 'deploy/compose-variables.yml'), 'utf8'), {
      schema: CORE_SCHEMA,
    });
    expect(await readErrors(variables)).toEqual([]);
    const mounting = z.object({
      services: z.record(z.string(), z.looseObject({ volumes: z.array(z.looseObject({ source: z.string() })) })),
    });
    const { services: extended } = mounting.parse(variables);
    for (const [name, one] of ofThisRepository) {
      expect(one.extends).toEqual({ file: 'deploy/compose-variables.yml', service: name });
      expect(extended[name]?.volumes).toEqual([
        expect.objectContaining({
          source: '${NODE_EXTRA_CA_CERTS:-/dev/null}',
          target: '/run/ca/ca.crt',
          read_only: true,
        }),
      ]);
    }
  });

  it('would be refused with a misspelt key', async () => {
    const misspelt = { services: { gateway: { image: 'rondo-gateway', read_onyl: true } } };

    expect(await readErrors(misspelt)).not.toEqual([]);
  });

  it('names only networks, volumes and services that it declares', () => {
    for (const [name, { networks, volumes, depends_on }] of services) {
      const mounted = volumes.map((volume) => volume.split(':')[0] ?? '').filter((source) => /^[a-z]/.test(source));
      expect({ name, networks }).toEqual({ name, networks: networks.filter((one) => one in compose.networks) });
      expect({ name, mounted }).toEqual({ name, mounted: mounted.filter((one) => one in compose.volumes) });
      expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(depends_on)));
    }
  });

  it('passes the keys of tools on to the executor, and to nothing else', () => {
    const variables = Object.keys(serviceVariablesOfTools);
    const keys = variables.filter((name) => name.endsWith('_KEY') && name !== 'SECRETS_KEY');

    const given = Object.fromEntries([...composeSecrets, ...variables].map((variable) => [variable, 'V']));

    for (const [name] of ofThisRepository) {
      const passed = Object.keys(containerEnvironment(name, given));
      if (name === 'tool-executor') expect(passed).toEqual(expect.arrayContaining(variables));
      else expect({ name, keys: keys.filter((key) => passed.includes(key)) }).toEqual({ name, keys: [] });
    }
  });

  it('runs each service from its own image', () => {
    const built = ofThisRepository.map(([name, { image, build }]) => ({ name, image, target: build?.target }));
    const expected = Object.keys(images).filter((name) => name !== 'cli');

    expect(built.map(({ name }) => name).sort()).toEqual(expected.sort());
    for (const { name, image, target } of built)
      expect({ image, target }).toEqual({ image: `rondo-${name}`, target: name });
  });

  it('confines every service: no capabilities, no way to gain any, a file system that cannot be written', () => {
    for (const [, one] of ofThisRepository) {
      expect(one).toMatchObject({ cap_drop: ['ALL'], read_only: true, tmpfs: ['/tmp'], profiles: ['app'] });
      expect(one.security_opt).toContain('no-new-privileges:true');
    }
  });

  it('keeps the executor out of the network of the stores, and its exceptions from the others', () => {
    const exceptions = ['seccomp=unconfined', 'apparmor=unconfined', 'systempaths=unconfined'];

    expect(compose.services['tool-executor']?.networks).toEqual(['executor']);
    expect(compose.services['tool-executor']?.security_opt).toEqual(expect.arrayContaining(exceptions));
    const others = ofThisRepository.filter(([name]) => name !== 'tool-executor');
    for (const [, { security_opt }] of others) expect(security_opt).toEqual(['no-new-privileges:true']);
  });
});
