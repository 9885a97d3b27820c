import { existsSync } from 'node:fs';
import { type ToolNeed, environmentNeeds, parseImageReference, toEngineName } from '@rondo/domain';
import type { EnvironmentOffers } from '@rondo/messaging';
import type { Config } from '../config';
import type { SandboxCapabilities } from '../sandboxes/provider/sandbox-provider';
import type { SandboxSettings } from '../sandboxes/provider/sandbox-settings';
import type { ToolServices } from './tool-services';

type Needed = Pick<
  Config,
  | 'PREVIEW_URL'
  | 'BROWSER_PATH'
  | 'DOCKER_BROWSER_PATH'
  | 'DAYTONA_BROWSER_PATH'
  | 'SANDBOX_PROVIDER'
  | 'SANDBOX_EGRESS'
  | 'SANDBOX_INTERNAL_HOSTS'
>;

type EnvironmentNeed = (typeof environmentNeeds)[number];

const reasons: Record<ToolNeed, string> = {
  search_engine:
    'No search engine is configured: the tool-executor has no TAVILY_API_KEY, BRAVE_API_KEY, SERPER_API_KEY, SERPAPI_API_KEY, JINA_API_KEY or SEARXNG_URL.',
  data_providers: 'The tool-executor has no RAPIDAPI_KEY.',
  internet: 'Sandboxes reach nothing: SANDBOX_EGRESS of the tool-executor is none.',
  browser:
    'The tool-executor has no Chromium for its sandboxes: BROWSER_PATH, or DOCKER_BROWSER_PATH or DAYTONA_BROWSER_PATH where they are elsewhere.',
  previews: 'The tool-executor has no PREVIEW_URL.',
  sites: 'The tool-executor has no PREVIEW_URL.',
  transcription: 'The tool-executor has no TRANSCRIPTION_API_KEY or TRANSCRIPTION_URL.',
};

/** What this executor lacks for tools, with the reason for its operator. It announces this, so that such tools are not offered. */
export function listLackedNeeds(
  config: Needed,
  { search, dataProviders, transcription }: ToolServices,
): Partial<typeof reasons> {
  const isCutOff = config.SANDBOX_EGRESS === 'none' && (config.SANDBOX_INTERNAL_HOSTS ?? []).length === 0;
  const has: Partial<Record<ToolNeed, boolean>> = {
    search_engine: search !== undefined,
    data_providers: dataProviders !== undefined,
    internet: !isCutOff,
    browser: hasBrowser(config),
    previews: config.PREVIEW_URL !== undefined || config.SANDBOX_PROVIDER === 'daytona', // the service has its own
    sites: config.PREVIEW_URL !== undefined,
    transcription: transcription !== undefined,
  };
  return Object.fromEntries(Object.entries(reasons).filter(([need]) => has[need as ToolNeed] === false)); // its own keys
}

/** What its sandboxes cannot honour of the environment of a run. It announces this, too, so that such runs are refused by the field. */
export function listLackedParts({
  SANDBOX_PROVIDER: provider,
  SANDBOX_UNSAFE_HOST: isUnsafe,
  SECRETS_KEY: key,
  DAYTONA_IMAGE: daytonaImage,
  SANDBOX_IMAGES: images,
  SANDBOX_PACKAGES: kinds,
}: Pick<
  Config,
  'SANDBOX_PROVIDER' | 'SANDBOX_UNSAFE_HOST' | 'SECRETS_KEY' | 'DAYTONA_IMAGE' | 'SANDBOX_IMAGES' | 'SANDBOX_PACKAGES'
>): Record<string, string> {
  const ofAll = isUnsafe ? 'sandboxes that are not isolated cannot do it' : undefined;
  const ofNetwork = provider === 'daytona' ? 'sandboxes of the provider daytona cannot do it' : ofAll;
  const ofPackages =
    provider === 'embedded'
      ? 'sandboxes of the provider embedded have the programs of their host'
      : kinds === undefined
        ? 'this deployment installs none: SANDBOX_PACKAGES of the tool-executor'
        : undefined;
  const ofSize =
    provider === 'daytona' && daytonaImage === undefined && images === undefined
      ? 'Daytona takes a size with DAYTONA_IMAGE only, and a snapshot has its own'
      : ofAll;
  const reasons: Record<EnvironmentNeed, string | undefined> = {
    egress: ofNetwork,
    size: ofSize,
    packages: ofPackages,
    image: provider === 'embedded' ? 'sandboxes of the provider embedded have the programs of their host' : undefined,
    'repository.secret': ofNetwork ?? (key === undefined ? 'the tool-executor has no SECRETS_KEY' : undefined),
  };
  return Object.fromEntries(
    environmentNeeds.flatMap((need) => (reasons[need] === undefined ? [] : [[`environment.${need}`, reasons[need]]])),
  );
}

type Offering = Pick<SandboxSettings, 'provider' | 'docker' | 'daytona' | 'images' | 'packages'>;

/** What environments may ask for, of sandboxes that can do so much. It announces this, too, so that a run that asks for more is refused by the field. */
export function listOfferedParts(
  { provider, docker, daytona, images, packages }: Offering,
  capabilities: Pick<SandboxCapabilities, 'size' | 'sizeStep'> | undefined,
): EnvironmentOffers | undefined {
  if (!capabilities) return undefined;
  const own = provider === 'docker' ? docker?.image : daytona?.image;
  return {
    size: capabilities.size,
    ...(capabilities.sizeStep && { size_step: capabilities.sizeStep }),
    images: [...images, ...(own === undefined ? [] : [toEngineName(parseImageReference(own))])],
    packages: packages.kinds,
  };
}

/** Whether an image at Daytona has its program shows at the first use; one of Docker is tried at the start. */
function hasBrowser({ SANDBOX_PROVIDER, ...paths }: Needed): boolean {
  if (SANDBOX_PROVIDER === 'docker') return paths.DOCKER_BROWSER_PATH !== undefined;
  if (SANDBOX_PROVIDER === 'daytona') return paths.DAYTONA_BROWSER_PATH !== undefined;
  return existsSync(paths.BROWSER_PATH ?? '');
}
