import fc from 'fast-check';
import { isPublicAddress, network, publicInternet } from './address-policy';

describe('isPublicAddress', () => {
  it.each([
    ['this host', '0.0.0.0'],
    ['private', '10.1.2.3'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['cloud metadata', '169.254.169.254'],
    ['Azure’s wire server', '168.63.129.16'],
    ['Oracle’s metadata', '192.0.0.192'],
    ['Alibaba’s metadata', '100.100.100.200'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['IPv6 loopback', '::1'],
    ['IPv6 unspecified', '::'],
    ['IPv6 link-local', 'fe80::1'],
    ['IPv6 unique local', 'fd00:ec2::254'],
    ['IPv6 multicast', 'ff02::1'],
    ['mapped IPv4', '::ffff:169.254.169.254'],
    ['mapped IPv4 in hexadecimal', '::ffff:7f00:1'],
    ['NAT64', '64:ff9b::a9fe:a9fe'],
    ['NAT64 in decimal', '64:ff9b::127.0.0.1'],
    ['NAT64 of a local network', '64:ff9b:1::7f00:1'],
    ['compatible IPv4', '::127.0.0.1'],
    ['translated IPv4', '::ffff:0:127.0.0.1'],
    ['6to4', '2002:7f00:1::'],
    ['6to4 of Azure’s wire server', '2002:a83f:8110::1'],
    ['site-local', 'fec0::1'],
    ['an address with a zone', 'fe80::1%eth0'],
    ['Teredo', '2001:0:1::1'],
    ['no address', 'localhost'],
  ])('refuses %s (%s)', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['1.1.1.1', '168.63.129.17', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'accepts %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it('refuses a version 4 address wrapped in a version 6 one', () => {
    fc.assert(fc.property(fc.ipV4(), (address) => !isPublicAddress(`::ffff:${address}`)));
  });
});

describe('publicInternet', () => {
  const own = ['203.0.113.7', '2a00:1450::7', 'fe80::7%eth0', '127.0.0.1'];

  it('refuses addresses that are not public, whatever the options say', () => {
    const isAllowed = publicInternet();
    expect([isAllowed('127.0.0.1'), isAllowed('::ffff:8.8.8.8'), isAllowed('8.8.8.8')]).toEqual([false, false, true]);
  });

  it('refuses the addresses of the host itself', () => {
    const isAllowed = publicInternet({ ownAddresses: () => own });
    for (const address of own.slice(0, 2))
      expect({ address, allowed: isAllowed(address) }).toEqual({ address, allowed: false });
    expect(isAllowed('203.0.113.8')).toBe(true);
  });

  it('reads them again, since an interface can come up', () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    let addresses: string[] = [];
    const isAllowed = publicInternet({ ownAddresses: () => addresses });
    expect(isAllowed('203.0.113.7')).toBe(true);

    addresses = own;
    clock.mockReturnValue(6_000);

    expect(isAllowed('203.0.113.7')).toBe(false);
    clock.mockRestore();
  });

  it.each([
    ['203.0.113.0/24', '203.0.113.200', '203.0.114.1'],
    ['203.0.113.77/24', '203.0.113.200', '203.0.114.1'],
    ['198.51.100.9', '198.51.100.9', '198.51.100.10'],
    ['2a00:1450::/32', '2a00:1450:1::1', '2a00:1451::1'],
    ['2a00:1450::1', '2a00:1450:0::1', '2a00:1450::2'],
  ])('refuses the denied network %s', (denied, inside, outside) => {
    const isAllowed = publicInternet({ deniedNetworks: [network.parse(denied)], ownAddresses: () => [] });
    expect({ inside: isAllowed(inside), outside: isAllowed(outside) }).toEqual({ inside: false, outside: true });
  });

  it.each(['', '10.0.0.0/33', '10.0.0/8', 'example.org', '10.0.0.0/', '::/129', '10.0.0.0-10.0.0.9'])(
    'knows no network %j',
    (text) => {
      expect(network.safeParse(text).error?.issues).toMatchObject([
        { message: expect.stringMatching(/expected a network/) },
      ]);
    },
  );
});
