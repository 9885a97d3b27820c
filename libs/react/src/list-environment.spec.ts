import { listEnvironment } from './list-environment.ts';

const url = 'https://example.com/team/site.git';

describe('listEnvironment', () => {
  it('names all that an environment has', () => {
    expect(
      listEnvironment({
        image: 'python:3.12',
        packages: { pip: ['requests==2.32.3'], npm: ['semver@7.6.3'] },
        repository: { url },
        files: [{}, {}],
        size: { cpus: 1, memory_mb: 1024, disk_mb: 2048 },
        egress: [],
      }),
    ).toEqual([
      'the image python:3.12',
      'the packages requests==2.32.3, semver@7.6.3',
      `the repository ${url}`,
      '2 files',
      'at most 1 core, 1024 MiB of memory, 2048 MiB of disk',
      'its network reaches nothing',
    ]);
  });

  it('names the folder of a repository where it is known, and the first of many packages', () => {
    const apt = Array.from({ length: 7 }, (_, place) => `tool-${place}=1`);
    expect(listEnvironment({ repository: { url, path: 'site' }, packages: { apt } })).toEqual([
      'the packages tool-0=1, tool-1=1, tool-2=1, tool-3=1, tool-4=1, 2 more',
      'the repository in site',
    ]);
  });

  it('has nothing to name of an empty one', () => {
    expect(listEnvironment({ repository: null, files: [], egress: null })).toEqual([]);
  });
});
