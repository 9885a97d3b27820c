import { validateEnvironment } from './validate-environment';

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
