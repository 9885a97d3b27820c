import { decideDestination, EgressRefusal, type EgressRules } from './destination';

const answering = (...addresses: string[]): EgressRules => ({ policy: 'public', resolve: async () => addresses });
const to = (hostname: string, port = 443) => ({ hostname, port });

describe('decideDestination', () => {
  it('names the very address that was checked', async () => {
    await expect(decideDestination(to('example.org'), answering('1.2.3.4'))).resolves.toEqual({
      address: '1.2.3.4',
      port: 443,
    });
  });

  it.each([
    ['a name that resolves to the host itself', to('rebind.example'), answering('127.0.0.1')],
    ['a name with one private address among public ones', to('mixed.example'), answering('1.2.3.4', '10.0.0.1')],
    ['a name without addresses', to('nowhere.example'), answering()],
    ['a literal private address', to('[::1]'), answering('1.2.3.4')],
    ['mail', to('example.org', 25), answering('1.2.3.4')],
    [
      'everything when there is to be no network',
      to('example.org'),
      { ...answering('1.2.3.4'), policy: 'none' as const },
    ],
    ['a host that is not on the list', to('evil.org'), { ...answering('1.2.3.4'), allowedHosts: ['example.org'] }],
    [
      'a look-alike of a listed domain',
      to('evilexample.org'),
      { ...answering('1.2.3.4'), allowedHosts: ['*.example.org'] },
    ],
  ])('refuses %s', async (_, target, rules) => {
    await expect(decideDestination(target, rules)).rejects.toThrow(EgressRefusal);
  });

  it('lets listed hosts and subdomains pass, in any case', async () => {
    const rules = { ...answering('1.2.3.4'), allowedHosts: ['example.org', '*.example.net'] };
    for (const host of ['Example.org', 'a.b.example.net']) {
      await expect(decideDestination(to(host), rules)).resolves.toMatchObject({ address: '1.2.3.4' });
    }
  });
});
