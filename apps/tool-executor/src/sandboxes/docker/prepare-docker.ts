import type { Isolation, IsolationSite } from '../host/isolation/isolation';
import { guardTrial } from '../host/isolation/guarded-start';
import { runTrial } from '../host/isolation/run-trial';
import { type RuntimeDirectory, createRuntimeDirectory } from '../host/isolation/runtime-directory';
import { ownerLabel } from './container-request';
import { DockerLauncher } from './docker-launcher';
import { type DockerSettings, dockerSettings } from '../provider/docker-settings';
import type { SandboxCapabilities } from '../provider/sandbox-provider';
import { EngineClient } from './engine-client';
import { SandboxImages } from './sandbox-images';
import { toLargestSize, withSize } from '../provider/sandbox-shape';
import { toMessage } from '@rondo/platform';

/** Asks the engine, deletes what an earlier process of this executor has left, and runs a command in a container. */
export async function prepareDocker(site: IsolationSite): Promise<Isolation> {
  const docker = site.settings.docker ?? dockerSettings.parse({});
  let runtime: RuntimeDirectory | undefined;
  try {
    const engine = new EngineClient(docker.socketPath);
    await engine.ping();
    for (const id of await engine.list(ownerLabel(site.settings.root))) await engine.remove(id);
    runtime = await createRuntimeDirectory(undefined);
    await site.egress.secrets?.authority.writeTo(runtime.agent);
    const { memory, cpu, host } = await engine.readLimits();
    const most = toLargestSize(site.settings, host);
    // An engine refuses a container that may use more processor cores than there are.
    const settings = withSize(site.settings, { cpus: most.cpus });
    const images = new SandboxImages({ engine, own: docker.image, runtime, ...site, settings });
    const launcher = new DockerLauncher({ engine, docker, images, runtime, ...site, settings });
    const problem = await runTrial(launcher, site, toTrial(docker));
    if (problem !== undefined) throw new Error(problem);
    const { cpus, memory_mb, disk_mb } = most;
    const size = { ...(cpu && { cpus }), ...(memory && { memory_mb }), disk_mb };
    return { result: toResult(site, docker, { launcher, size }), launcher, remove: runtime.remove };
  } catch (error) {
    await runtime?.remove();
    const reason = toMessage(error);
    return { result: { ...toResult(site, docker), usable: false, reason, advice: adviceFor(reason, docker) }, remove };
  }
}

const remove = (): Promise<void> => Promise.resolve();

const toTrial = ({ browserPath }: DockerSettings): string =>
  [
    ...(browserPath === undefined
      ? []
      : [`[ -x ${browserPath} ] || { echo 'The image has no program ${browserPath}.'; exit 1; }`]),
    guardTrial,
  ].join('\n');

function toResult(
  { workspaces, settings }: IsolationSite,
  { image, runtime }: DockerSettings,
  found?: { readonly launcher: DockerLauncher; readonly size: SandboxCapabilities['size'] },
) {
  return {
    usable: true,
    capabilities: {
      isolation: true,
      egressPolicy: true,
      hardDisk: false,
      size: found?.size ?? toLargestSize(settings), // while the engine is away, nothing is known of its host
      backgroundSessions: true,
      stdin: true,
      runProcesses: found?.launcher.seesProcesses ?? false,
      ports: true,
    },
    details: {
      ...{ isolation: 'docker', image, separateUsers: workspaces.separateUsers },
      ...(runtime !== undefined && { runtime }),
    },
  };
}

function adviceFor(reason: string, { socketPath, image }: DockerSettings): string {
  if (/ENOENT|ECONNREFUSED|EACCES|does not answer/.test(reason)) {
    return `Start the engine, and let the executor's user use ${socketPath} (DOCKER_SOCKET).`;
  }
  if (/API version|client version/.test(reason)) {
    return 'The engine and this executor have no version of the Engine API in common. Docker 20.10 and later are known to work.';
  }
  if (reason.includes('The image has no program'))
    return 'Name the Chromium of the image, or none (DOCKER_BROWSER_PATH).';
  if (/no such image/i.test(reason)) return `Pull the image on the engine's host: docker pull ${image} (DOCKER_IMAGE).`;
  return (
    'The engine must run on this host, and SANDBOX_ROOT and the directory of temporary files must have the same paths ' +
    'for both. The image needs bash and Node.'
  );
}
