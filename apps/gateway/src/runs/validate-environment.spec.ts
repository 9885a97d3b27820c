import type { SecretPolicy } from '@rondo/contract';
import { validateEnvironment, validateRepositorySecret } from './validate-environment';

const url = 'https://example.com/site.git';

describe('validateEnvironment', () => {
  const cutOff = { lacks: { 'environment.egress': 'sandboxes here cannot do it' }, offers: null };
  const small = {
    lacks: {},
    offers: { size: { cpus: 2, memory_mb: 2048 }, images: ['python', 'ghcr.io/you/*'], packages: ['pip'] },
  };
  const problems = (environment: object, executors: Parameters<typeof validateEnvironment>[1] = [cutOff]) =>
    validateEnvironment({ environment }, executors);

  it('refuses by its name what no executor honours', () => {
    expect(problems({ egress: [] })).toEqual([{ field: 'environment.egress', message: 'sandboxes here cannot do it' }]);
  });

  it('takes what one honours, and what is not asked for', () => {
    expect(problems({ repository: { url, secret: 'TOKEN' }, files: [] })).toEqual([]);
    expect(validateEnvironment({}, [cutOff])).toEqual([]);
  });

  it.each([
    [{ size: { cpus: 999, memory_mb: 1024 } }, ['size.cpus']],
    [{ size: { cpus: 3, memory_mb: 4096, disk_mb: 1 } }, ['size.cpus', 'size.memory_mb', 'size.disk_mb']],
    [{ image: 'ruby:3' }, ['image']],
    [{ packages: { apt: ['hello=1'], pip: ['requests==2'] } }, ['packages.apt']],
    [{ size: { cpus: 2 }, image: 'ghcr.io/you/tool:1', packages: { pip: ['requests==2'] } }, []],
  ])('refuses what is more than the deployment offers: %j', (environment, fields) => {
    expect(problems(environment, [small]).map(({ field }) => field)).toEqual(
      fields.map((field) => `environment.${field}`),
    );
  });

  it('refuses only what none of several executors takes', () => {
    const large = { lacks: {}, offers: { ...small.offers, size: { cpus: 16 }, packages: [] } };
    expect(problems({ size: { cpus: 8 }, packages: { pip: ['requests==2'] } }, [small, large])).toEqual([]);
    expect(problems({ size: { cpus: 32 } }, [small, large])).toEqual([
      { field: 'environment.size.cpus', message: 'must be at most 2 on this deployment' },
    ]);
    expect(problems({ size: { cpus: 32 } }, [small, cutOff])).toEqual([]);
    expect(problems({ size: { cpus: 32 } }, [])).toEqual([]);
  });
});

describe('validateRepositorySecret', () => {
  const fitting: SecretPolicy = {
    ...{ allowed_hosts: ['example.com'], methods: ['GET', 'POST'] },
    placement: { in: 'basic', username: 'robot' },
  };
  const problems = (policies: SecretPolicy[], repository: object = { url, secret: 'TOKEN' }) =>
    validateRepositorySecret({ repository } as never, policies); // as a request has it

  it.each<[string, Partial<SecretPolicy>]>([
    ['placement must be `basic`', { placement: { in: 'header', name: 'Authorization' } }],
    ['`allowed_hosts` must name example.com', { allowed_hosts: ['github.com', 'http://example.com'] }],
    ['`methods` must have GET and POST', { methods: ['GET'] }],
  ])('says what a secret lacks: %s', (reason, policy) => {
    expect(problems([{ ...fitting, ...policy }])).toEqual([
      { field: 'environment.repository.secret', message: `TOKEN cannot be used for ${url}: its ${reason}` },
    ]);
  });

  it('names the scheme and the port that the secret has to name', () => {
    const [problem] = problems([fitting], { url: 'http://git.internal:3000/site.git', secret: 'TOKEN' });
    expect(problem?.message).toContain('must name http://git.internal:3000');
  });

  it('takes one of several that fits, a name that is not stored yet, and a repository without one', () => {
    expect(problems([{ ...fitting, methods: ['GET'] }, fitting])).toEqual([]);
    expect(problems([])).toEqual([]);
    expect(problems([], { url })).toEqual([]);
  });
});
