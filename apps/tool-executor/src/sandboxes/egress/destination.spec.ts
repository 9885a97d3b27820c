import { OutboundRefusal, isPublicAddress } from '@rondo/platform';
import { egressSettings } from '../provider/sandbox-settings';
import { decideDestination, type EgressRules } from './destination';

const answering = (...addresses: string[]): EgressRules => ({
  ...egressSettings.parse({}),
  resolve: async () => addresses,
  resolveInternal: async () => ['10.0.0.7'],
  isAllowed: isPublicAddress,
});
const to = (hostname: string, port = 443) => ({ hostname, port });

describe('decideDestination', () => {
  it('returns the address that was checked', async () => {
    await expect(decideDestination(to('example.org'), answering('1.2.3.4'))).resolves.toMatchObject({
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
    await expect(decideDestination(target, rules)).rejects.toThrow(OutboundRefusal);
  });

  it('says where an operator names a private address that may be reached all the same', async () => {
    await expect(decideDestination(to('git.internal', 3000), answering('10.0.0.7'))).rejects.toThrow(
      'git.internal is not a public address. An operator can name git.internal:3000 in SANDBOX_INTERNAL_HOSTS.',
    );
  });

  it('admits internal hosts at their exact port under every policy, and pins their address as well', async () => {
    const internalHosts = ['git.internal:3000', '[::1]:25'];
    for (const more of [{ policy: 'none' as const }, { allowedHosts: ['example.org'] }]) {
      const rules = { ...answering('10.0.0.8'), ...more, internalHosts };

      await expect(decideDestination(to('Git.Internal', 3000), rules)).resolves.toMatchObject({
        address: '10.0.0.7',
        port: 3000,
      });
      await expect(decideDestination(to('[::1]', 25), rules)).resolves.toMatchObject({ address: '::1', port: 25 });
      for (const other of [to('git.internal', 3001), to('evil.git.internal', 3000), to('10.0.0.7', 3000)]) {
        await expect(decideDestination(other, rules)).rejects.toThrow(OutboundRefusal);
      }
    }
  });

  it('admits listed hosts and subdomains, regardless of case', async () => {
    const rules = { ...answering('1.2.3.4'), allowedHosts: ['example.org', '*.example.net'] };
    for (const host of ['Example.org', 'a.b.example.net']) {
      await expect(decideDestination(to(host), rules)).resolves.toMatchObject({ address: '1.2.3.4' });
    }
  });
});
