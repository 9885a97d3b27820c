import type { SecretPolicy } from '@rondo/contract';
import { validateEnvironment, validateRepositorySecret } from './validate-environment';

const url = 'https://example.com/site.git';

describe('validateEnvironment', () => {
  const lacked: Record<string, string> = { 'environment.egress': 'sandboxes here cannot do it' };
  const problems = (environment: object) => validateEnvironment({ environment }, (need) => lacked[need]);

  it('refuses by its name what no executor honours', () => {
    expect(problems({ egress: [] })).toEqual([{ field: 'environment.egress', message: 'sandboxes here cannot do it' }]);
  });

  it('takes what one honours, and what is not asked for', () => {
    expect(problems({ repository: { url, secret: 'TOKEN' }, files: [] })).toEqual([]);
    expect(validateEnvironment({}, (need) => lacked[need])).toEqual([]);
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
