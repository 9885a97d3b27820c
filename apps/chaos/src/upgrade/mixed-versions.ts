import { join } from 'node:path';
import type { DeploymentRequest } from '@rondo/test-deployment';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import type { TestBed } from '../test-bed/test-bed';

export type Version = 'released' | 'new';
type Launch = NonNullable<DeploymentRequest['launch']>;

/** Which version each instance runs. All begin with the released one, except the demo model, which stands for a provider. */
export class MixedVersions {
  private readonly newer = new Set<string>(['demo-model']);

  /** `released` is the directory with the build of the released version. */
  constructor(private readonly released: string) {}

  readonly launch: Launch = ({ service, name, env }) => ({
    file: process.execPath,
    args: [join('apps', service, 'dist/main.js')],
    cwd: this.newer.has(name) ? repoRoot : this.released,
    env,
  });

  /** Stops the instance as an orchestrator does, with SIGTERM, and starts the other version of it. */
  async replace(testBed: TestBed, name: string, version: Version): Promise<void> {
    const instance = testBed.rondo.services.get(name);
    testBed.faults.note(`to ${version}`, name);
    testBed.progress.faults += 1;
    await instance.stop();
    if (version === 'new') this.newer.add(name);
    else this.newer.delete(name);
    await instance.start();
  }
}
