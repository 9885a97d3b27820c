import { UsageError } from './command';
import { chooseGateway, type GatewaySources, toProgramEnvironment } from './config';

const nothing = { url: undefined, key: undefined };
const choose = (sources: Partial<GatewaySources>) =>
  chooseGateway({ given: nothing, environment: nothing, checkout: nothing, ...sources });

const local = { url: 'http://localhost:3150', key: 'rondo_checkout' };

describe('chooseGateway', () => {
  it('takes URL and key of the environment, even in a checkout', () => {
    const environment = { url: 'https://rondo.example.com', key: 'rondo_mine' };

    const chosen = choose({ environment, checkout: local });

    expect([chosen.url, chosen.key()]).toEqual([environment.url, environment.key]);
  });

  it('takes URL and key of the checkout', () => {
    const chosen = choose({ checkout: local });

    expect([chosen.url, chosen.key()]).toEqual([local.url, local.key]);
  });

  it.each([
    ['an option', { given: { ...nothing, url: 'https://other.example.com' } }],
    ['the environment', { environment: { ...nothing, url: 'https://other.example.com' } }],
  ])('sends a key of the environment to the URL of %s', (_, sources: Partial<GatewaySources>) => {
    const environment = { ...sources.environment, url: sources.environment?.url, key: 'rondo_mine' };

    const chosen = choose({ ...sources, environment, checkout: local });

    expect([chosen.url, chosen.key()]).toEqual(['https://other.example.com', 'rondo_mine']);
  });

  it('sends a key of the environment to the usual URL where no folder names another', () => {
    const chosen = choose({ environment: { ...nothing, key: 'rondo_mine' } });

    expect([chosen.url, chosen.key()]).toEqual(['http://localhost:3000', 'rondo_mine']);
  });

  it.each(['http://localhost:3150/', 'http://127.0.0.1:3150', 'http://[::1]:3150'])(
    'sends the key of the checkout to its gateway as %s',
    (url) => {
      expect(choose({ given: { ...nothing, url }, checkout: local }).key()).toBe(local.key);
    },
  );

  it('takes an empty variable for none', () => {
    const chosen = choose({ environment: { url: '', key: '' }, checkout: local });

    expect([chosen.url, chosen.key()]).toEqual([local.url, local.key]);
  });

  it.each(['localhost:3150', 'rondo.example.com', 'ftp://rondo.example.com', ''])(
    'says that %s is no URL of a gateway, instead of that nothing answers there',
    (url) => {
      expect(choose({ given: { url, key: 'rondo_mine' } }).key).toThrow(/begins with http:\/\/ or https:\/\//);
    },
  );

  it('sends the key of the checkout to the usual URL where it names none', () => {
    expect(choose({ checkout: { ...nothing, key: 'rondo_checkout' } }).key()).toBe('rondo_checkout');
  });
});

describe('attack: a folder of another person that names a URL', () => {
  const trap = { url: 'https://collect.example.com', key: undefined };

  it.each([
    ['the environment', { environment: { ...nothing, key: 'rondo_mine' } }],
    ['an option', { given: { ...nothing, key: 'rondo_mine' } }],
  ])('gets no key of %s', (_, own) => {
    expect(choose({ ...own, checkout: trap }).key).toThrow(UsageError);
    expect(choose({ ...own, checkout: { ...trap, key: 'rondo_theirs' } }).key).toThrow(/--url or RONDO_URL/);
    expect(choose({ ...own, checkout: local }).key).toThrow(UsageError);
  });
});

describe('attack: another server than the one of the checkout', () => {
  it.each(['http://localhost:3151', 'http://127.0.0.1', 'https://localhost:3150', 'http://localhost.example.com:3150'])(
    'at %s gets no key of the checkout',
    (url) => {
      expect(choose({ given: { ...nothing, url }, checkout: local }).key).toThrow(UsageError);
    },
  );
});

describe('toProgramEnvironment', () => {
  it('takes the authority and the proxy of the settings, unless the environment has others', () => {
    const settings = { NODE_EXTRA_CA_CERTS: '/ca.pem', HTTPS_PROXY: 'http://of-the-file', OPENAI_API_KEY: 'secret' };

    const environment = toProgramEnvironment(settings, { HTTPS_PROXY: 'http://of-the-environment' });

    expect(environment).toMatchObject({ NODE_EXTRA_CA_CERTS: '/ca.pem', HTTPS_PROXY: 'http://of-the-environment' });
    expect(environment).not.toHaveProperty('OPENAI_API_KEY');
  });
});
