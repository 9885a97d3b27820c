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
    expect(problems({ size: { cpus: 8 } }, [small, large])).toEqual([]);
    expect(problems({ packages: { pip: ['requests==2'] } }, [small, large])).toEqual([]);
    expect(problems({ size: { cpus: 32 } }, [small, large])).toEqual([
      { field: 'environment.size.cpus', message: 'must be at most 16 on this deployment' },
    ]);
    expect(problems({ size: { cpus: 32 } }, [small, cutOff])).toEqual([]);
    expect(problems({ size: { cpus: 32 } }, [])).toEqual([]);
  });
});

describe('a size of which an executor takes whole numbers only', () => {
  const inSteps = { lacks: {}, offers: { size: { cpus: 4, memory_mb: 8192 }, size_step: { cpus: 1, memory_mb: 1024 }, images: [], packages: [] } }; // prettier-ignore
  const problems = (size: object, others: Parameters<typeof validateEnvironment>[1] = []) =>
    validateEnvironment({ environment: { size } }, [inSteps, ...others]).map(({ field, message }) => [field, message]);

  it('is refused with its field where it is none', () => {
    expect(problems({ cpus: 2, memory_mb: 4096 })).toEqual([]);
    expect(problems({ cpus: 0.5, memory_mb: 1000 })).toEqual([
      ['environment.size.cpus', 'must be a whole number on this deployment'],
      ['environment.size.memory_mb', 'must be a multiple of 1024 on this deployment'],
    ]);
  });

  it('is taken where another executor takes any', () => {
    const any = { lacks: {}, offers: { size: { cpus: 2 }, images: [], packages: [] } };
    expect(problems({ cpus: 0.5 }, [any])).toEqual([]);
  });
});

describe('an environment of which no executor offers all', () => {
  const large = { lacks: {}, offers: { size: { cpus: 16 }, images: ['ruby'], packages: [] } };
  const small = { lacks: {}, offers: { size: { cpus: 2 }, images: ['python', 'ruby'], packages: ['pip'] } };
  const fields = (environment: object, executors = [small, large]) =>
    validateEnvironment({ environment }, executors).map(({ field }) => field);
  const packages = { pip: ['requests==2'] };

  it('is refused for what the executor lacks that offers most of it', () => {
    expect(validateEnvironment({ environment: { size: { cpus: 8 }, image: 'python' } }, [small, large])).toEqual([
      {
        field: 'environment.size.cpus',
        message: 'no executor offers it together with the rest of the environment',
      },
    ]);
    expect(fields({ size: { cpus: 8 }, image: 'python', packages })).toEqual(['environment.size.cpus']);
    expect(fields({ size: { cpus: 8 }, image: 'ruby' })).toEqual([]);
    expect(fields({ size: { cpus: 2 }, image: 'python', packages })).toEqual([]);
  });

  it('is refused for what none offers, if there is such a part', () => {
    expect(fields({ size: { cpus: 8 }, image: 'perl', packages })).toEqual(['environment.image']);
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
