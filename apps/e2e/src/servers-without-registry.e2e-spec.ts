import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startInfrastructure } from '../../../deploy/local/servers/infrastructure.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

/** An engine that answers and has no image, nor a registry to pull one from. It notes what it is asked. */
const engine = (calls: string, { hasData }: { hasData: boolean }) => `#!/bin/sh
echo "$@" >> ${calls}
case "$*" in
  info | 'compose version') exit 0 ;;
  'volume inspect '*) exit ${hasData ? 0 : 1} ;;
  *up*) echo 'failed to resolve reference: dial tcp: lookup registry-1.docker.io: no such host' >&2; exit 18 ;;
esac
`;

describe('npm start where Docker runs and reaches no registry', () => {
  const path = process.env['PATH'];
  let directory: string;
  let programs: string;
  beforeEach(() => {
    directory = mkdtempSync('/var/tmp/rondo-registry-');
    programs = join(directory, 'programs');
    mkdirSync(programs);
    process.env['PATH'] = `${programs}:${path ?? ''}`;
  });
  afterEach(() => {
    process.env['PATH'] = path;
    rmSync(directory, { recursive: true });
  });

  const withEngine = ({ hasData }: { hasData: boolean }) => {
    const calls = join(directory, 'calls');
    writeFileSync(join(programs, 'docker'), engine(calls, { hasData }));
    chmodSync(join(programs, 'docker'), 0o755);
    return () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []);
  };

  /** The servers of the machine are not in this PATH. */
  const start = () =>
    startInfrastructure({
      dataDir: join(directory, 'data'),
      packagesDirectory: join(repoRoot, '.data'),
      env: { PATH: programs },
      want: ['nats'],
    });

  it('starts servers from the packages of the distribution instead, and from then on', async () => {
    const calls = withEngine({ hasData: false });

    const first = await start();
    expect(first.get('nats').pid).toEqual(expect.any(Number));
    expect(calls().filter((call) => call.includes(' up '))).toHaveLength(1);
    await first.stop();

    const second = await start();
    expect(second.get('nats').pid).toEqual(expect.any(Number));
    expect(calls().filter((call) => call.includes(' up '))).toHaveLength(1);
    await second.stop();
  });

  it('says what Docker said where the data of the server is in Docker, instead of starting an empty one', async () => {
    withEngine({ hasData: true });

    await expect(start()).rejects.toThrow('no such host');
  });
});
