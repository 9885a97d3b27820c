import { commaSeparated, count } from '@rondo/platform';
import { z } from 'zod';
import { type SandboxSettingsInput, programPath } from '..';

const onlyDaytona = 'only for `SANDBOX_PROVIDER=daytona`';
const allowedImage = z
  .string()
  .regex(/^[a-z0-9][a-zA-Z0-9_.:/@-]*(?:\/\*)?$/, 'must be the name of an image, or end in `/*`');
const minutes = z.coerce.number().int().nonnegative();

/** Which provider runs the sandboxes, and what it needs besides the limits that all have. */
export const providerVariables = {
  SANDBOX_PROVIDER: z.enum(['embedded', 'docker', 'daytona']).default('embedded').meta({
    description:
      'Where sandboxes run: `embedded` on this host, `docker` in containers on this host, `daytona` at a Daytona service. See docs/sandboxes.md.',
  }),
  SANDBOX_INSTALL: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, dash and underscore only')
    .optional()
    .meta({
      description:
        'The name of this deployment, with which it labels its sandboxes. No other deployment that uses the same account may have it: each deletes the sandboxes of its name whose threads it does not know.',
      example: 'production',
      otherwise: 'required unless `SANDBOX_PROVIDER` is `embedded`',
    }),
  SANDBOX_RECONCILE_S: count.default(600).meta({
    description:
      'How often the executor asks a worker which of its sandboxes belong to threads that do not exist, and removes them.',
    unit: 's',
  }),
  SANDBOX_IMAGES: commaSeparated.pipe(z.array(allowedImage)).optional().meta({
    description:
      'The images that runs may choose for their sandboxes, separated by commas: a name with all its tags, a name with a tag or a digest, or `ghcr.io/you/*` for what is below it. For `docker` and `daytona`.',
    example: 'python,ghcr.io/you/*',
    otherwise: 'none but that of the provider',
  }),
  SANDBOX_PACKAGES: commaSeparated
    .pipe(z.array(z.enum(['apt', 'pip', 'npm'])))
    .optional()
    .meta({
      description:
        'The kinds of packages that runs may have installed into the images of their sandboxes: `apt`, `pip`, `npm`. Their scripts run as root of a container with the limits of a sandbox. For `docker`.',
      example: 'pip,npm',
      otherwise: 'none',
    }),
  SANDBOX_PACKAGE_HOSTS: commaSeparated.optional().meta({
    description: 'What an installation of packages reaches, of what sandboxes may: the hosts of registries.',
    example: 'registry.npmjs.org',
    otherwise: 'those of Debian, PyPI and npm',
  }),
  SANDBOX_PIP_INDEX: z.url().optional().meta({
    description: 'Where pip finds packages, instead of PyPI.',
    example: 'https://pypi.example.com/simple',
    otherwise: 'as the image says',
  }),
  SANDBOX_NPM_REGISTRY: z.url().optional().meta({
    description: 'Where npm finds packages, instead of its own registry.',
    example: 'https://npm.example.com',
    otherwise: 'as the image says',
  }),
  DOCKER_SOCKET: z.string().default('/var/run/docker.sock').meta({
    description:
      'The unix socket of the engine, for `SANDBOX_PROVIDER=docker`. **Who can use it is root on the host**.',
  }),
  DOCKER_IMAGE: z.string().default('node:24-bookworm').meta({
    description:
      'What containers are made from. Needs bash and Node 20 or later. It is not pulled: the engine must have it.',
  }),
  DOCKER_BROWSER_PATH: programPath.optional().meta({
    description: 'The program Chromium, or its headless shell, in the image.',
    example: '/usr/lib/chromium/chromium-headless-shell',
    otherwise: 'there is no browser in containers',
  }),
  DOCKER_RUNTIME: z.string().optional().meta({
    description: 'The OCI runtime of containers, which the engine must know.',
    example: 'runsc',
    otherwise: 'the engine’s own',
  }),
  DAYTONA_API_URL: z.url().optional().meta({
    description: 'The API of the Daytona service.',
    example: 'https://app.daytona.io/api',
    otherwise: onlyDaytona,
  }),
  DAYTONA_API_KEY: z.string().optional().meta({
    description: 'A key that may create and delete sandboxes. It stays in the executor: no sandbox and no log gets it.',
    otherwise: onlyDaytona,
  }),
  DAYTONA_TARGET: z.string().optional().meta({
    description: 'The region of new sandboxes.',
    example: 'eu',
    otherwise: 'the default of the Daytona account',
  }),
  DAYTONA_SNAPSHOT: z.string().optional().meta({
    description: 'The snapshot from which sandboxes are created, with the resources that it was made with.',
    otherwise: 'the default of the Daytona account',
  }),
  DAYTONA_IMAGE: z.string().optional().meta({
    description: 'An image instead of a snapshot. It needs bash, GNU coreutils, grep, find, awk and setsid.',
    example: 'debian:12',
    otherwise: '`DAYTONA_SNAPSHOT`',
  }),
  DAYTONA_BROWSER_PATH: programPath.optional().meta({
    description: 'The program Chromium, or its headless shell, in the snapshot or image.',
    example: '/usr/lib/chromium/chromium-headless-shell',
    otherwise: 'there is no browser in sandboxes at Daytona',
  }),
  DAYTONA_CPU: count.optional().meta({
    description: 'Processor cores of a sandbox that is created from `DAYTONA_IMAGE`.',
    otherwise: 'the default of the Daytona account',
  }),
  DAYTONA_MEMORY_GB: count.optional().meta({
    description: 'Memory of a sandbox that is created from `DAYTONA_IMAGE`.',
    unit: 'GiB',
    otherwise: 'the default of the Daytona account',
  }),
  DAYTONA_DISK_GB: count.optional().meta({
    description: 'Disk of a sandbox that is created from `DAYTONA_IMAGE`.',
    unit: 'GiB',
    otherwise: 'the default of the Daytona account',
  }),
  DAYTONA_AUTO_STOP_MIN: minutes.default(15).meta({
    description:
      'Daytona stops a sandbox that was unused for so long, also when no executor is left to do so. `0`: never.',
    unit: 'min',
  }),
  DAYTONA_AUTO_ARCHIVE_MIN: minutes.default(60).meta({
    description: 'Daytona archives a sandbox that was stopped for so long. It costs less and starts more slowly.',
    unit: 'min',
  }),
  DAYTONA_AUTO_DELETE_MIN: count.default(10_080).meta({
    description: 'Daytona deletes a sandbox that was stopped for so long, **with its files**.',
    unit: 'min',
  }),
};

type ProviderConfig = z.infer<z.ZodObject<typeof providerVariables>> & {
  readonly SANDBOX_ALLOWED_HOSTS?: readonly string[] | undefined;
  readonly SANDBOX_UNSAFE_HOST?: boolean | undefined;
  readonly SANDBOX_DISK_HARD?: string | undefined;
  readonly SANDBOX_WARM?: number | undefined;
  readonly SANDBOX_SNAPSHOTS?: unknown;
};
type Refuse = (variable: string, message: string) => void;

/** What a provider needs, and what it would ignore. An executor that cannot keep to its settings does not start. */
export function checkProvider(config: ProviderConfig, context: z.RefinementCtx): void {
  const refuse: Refuse = (variable, message) =>
    context.addIssue({ code: 'custom', path: [variable], message, input: undefined });
  const { SANDBOX_PROVIDER: provider } = config;
  if (config.SANDBOX_WARM && (provider !== 'embedded' || config.SANDBOX_UNSAFE_HOST)) {
    refuse(
      'SANDBOX_WARM',
      'only isolated sandboxes of SANDBOX_PROVIDER=embedded can be booted before a thread needs them',
    );
  }
  if (provider === 'embedded') {
    for (const name of ['SANDBOX_IMAGES', 'SANDBOX_PACKAGES'] as const)
      if (config[name] !== undefined)
        refuse(name, 'sandboxes of SANDBOX_PROVIDER=embedded have the programs of their host; unset it');
    return;
  }

  if (config.SANDBOX_INSTALL === undefined) refuse('SANDBOX_INSTALL', `required for SANDBOX_PROVIDER=${provider}`);
  if (provider === 'docker') checkDocker(config, refuse);
  else checkDaytona(config, refuse);
}

function checkDocker(config: ProviderConfig, refuse: Refuse): void {
  if (config.SANDBOX_UNSAFE_HOST) refuse('SANDBOX_UNSAFE_HOST', 'containers are always isolated; unset it');
  if (config.SANDBOX_DISK_HARD === 'required') {
    refuse('SANDBOX_DISK_HARD', 'the disk of a container is watched only; unset it, or set SANDBOX_PROVIDER=embedded');
  }
}

function checkDaytona(config: ProviderConfig, refuse: Refuse): void {
  for (const name of ['DAYTONA_API_URL', 'DAYTONA_API_KEY'] as const) {
    if (config[name] === undefined) refuse(name, 'required for SANDBOX_PROVIDER=daytona');
  }
  if (config.SANDBOX_ALLOWED_HOSTS !== undefined) {
    refuse(
      'SANDBOX_ALLOWED_HOSTS',
      'sandboxes at Daytona cannot be restricted to hosts; unset it, or set SANDBOX_EGRESS=none or SANDBOX_PROVIDER=embedded',
    );
  }
  if (config.SANDBOX_SNAPSHOTS !== undefined) {
    refuse('SANDBOX_SNAPSHOTS', 'sandboxes at Daytona do not depend on an executor; unset it');
  }
  if (config.DAYTONA_SNAPSHOT !== undefined && config.DAYTONA_IMAGE !== undefined) {
    refuse('DAYTONA_IMAGE', 'cannot be combined with DAYTONA_SNAPSHOT; unset one of them');
  }
  for (const name of ['DAYTONA_CPU', 'DAYTONA_MEMORY_GB', 'DAYTONA_DISK_GB'] as const) {
    if (config[name] !== undefined && config.DAYTONA_IMAGE === undefined) {
      refuse(name, 'takes effect with DAYTONA_IMAGE only; a snapshot has its own resources');
    }
  }
}

export function toProviderSettings(
  config: ProviderConfig,
): Pick<SandboxSettingsInput, 'provider' | 'install' | 'images' | 'packages' | 'docker' | 'daytona'> {
  const { SANDBOX_PROVIDER: provider, SANDBOX_INSTALL: install } = config;
  const packages = {
    ...{ kinds: config.SANDBOX_PACKAGES, hosts: config.SANDBOX_PACKAGE_HOSTS },
    ...{ pipIndex: config.SANDBOX_PIP_INDEX, npmRegistry: config.SANDBOX_NPM_REGISTRY },
  };
  const common = { provider, install, images: config.SANDBOX_IMAGES, packages };
  if (provider === 'embedded') return common;
  if (provider === 'docker') {
    const { DOCKER_SOCKET: socketPath, DOCKER_IMAGE: image, DOCKER_RUNTIME: runtime } = config;
    return { ...common, docker: { socketPath, image, runtime, browserPath: config.DOCKER_BROWSER_PATH } };
  }
  return {
    ...common,
    daytona: {
      apiUrl: config.DAYTONA_API_URL ?? '',
      apiKey: config.DAYTONA_API_KEY ?? '',
      target: config.DAYTONA_TARGET,
      snapshot: config.DAYTONA_SNAPSHOT,
      image: config.DAYTONA_IMAGE,
      browserPath: config.DAYTONA_BROWSER_PATH,
      resources: { cpu: config.DAYTONA_CPU, memory: config.DAYTONA_MEMORY_GB, disk: config.DAYTONA_DISK_GB },
      autoStopMinutes: config.DAYTONA_AUTO_STOP_MIN,
      autoArchiveMinutes: config.DAYTONA_AUTO_ARCHIVE_MIN,
      autoDeleteMinutes: config.DAYTONA_AUTO_DELETE_MIN,
    },
  };
}
