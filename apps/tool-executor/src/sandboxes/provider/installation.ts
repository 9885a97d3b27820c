import type { EnvironmentPackages } from '@rondo/contract';
import type { PackageSettings } from './sandbox-settings';

export interface Installation {
  readonly environment: Readonly<Record<string, string>>;
  /** Programs with their arguments, of which none is read by a shell. */
  readonly steps: readonly (readonly string[])[];
}

/** Where what is temporary is not in memory. It is deleted at the end. */
const temporary = '/var/tmp/rondo-installation';

/** What installs packages, as root of an image. */
export function toInstallation(
  { apt = [], pip = [], npm = [] }: EnvironmentPackages,
  { pipIndex, npmRegistry }: Pick<PackageSettings, 'pipIndex' | 'npmRegistry'>,
  given: Readonly<Record<string, string>>,
): Installation {
  const asRoot = ['-o', 'APT::Sandbox::User=root'];
  return {
    environment: {
      ...given,
      ...{ HOME: '/root', LANG: 'C.UTF-8', TMPDIR: temporary, DEBIAN_FRONTEND: 'noninteractive' },
      ...{ PIP_NO_INPUT: '1', PIP_NO_CACHE_DIR: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' },
      ...{ PIP_ROOT_USER_ACTION: 'ignore', PIP_BREAK_SYSTEM_PACKAGES: '1' },
      ...(pipIndex !== undefined && { PIP_INDEX_URL: pipIndex, PIP_TRUSTED_HOST: new URL(pipIndex).host }),
      ...{ npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' },
      npm_config_cache: `${temporary}/npm`,
      ...(npmRegistry !== undefined && { npm_config_registry: npmRegistry }),
    },
    steps: [
      ['mkdir', '-p', temporary],
      ...(apt.length > 0
        ? [
            ['apt-get', ...asRoot, 'update', '-q'],
            ['apt-get', ...asRoot, 'install', '-q', '-y', '--no-install-recommends', '--', ...apt],
            ['sh', '-c', 'rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb'],
          ]
        : []),
      ...(pip.length > 0 ? [['python3', '-m', 'pip', 'install', '--', ...pip]] : []),
      ...(npm.length > 0 ? [['npm', 'install', '--global', '--', ...npm]] : []),
      ['rm', '-rf', temporary],
    ],
  };
}
