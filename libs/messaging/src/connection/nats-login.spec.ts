import { natsLogin, withNatsPassword } from './nats-login';

describe('natsLogin', () => {
  it.each([
    ['nats://nats:4222', { servers: ['nats://nats:4222'], inboxPrefix: '_INBOX' }],
    [
      'nats://gateway:p%40ss@a:4222,b:4222,[::1]:4222/',
      {
        servers: ['nats://a:4222', 'nats://b:4222', 'nats://[::1]:4222'],
        ...{ user: 'gateway', pass: 'p@ss', inboxPrefix: '_INBOX.gateway' },
      },
    ],
    ['tls://nats.example.org', { servers: ['tls://nats.example.org'], inboxPrefix: '_INBOX', tls: {} }],
    [
      'nats://a?sslrootcert=/etc/ca.pem&sslcert=/c.pem&sslkey=/k.pem',
      {
        servers: ['nats://a'],
        ...{ inboxPrefix: '_INBOX', tls: { caFile: '/etc/ca.pem', certFile: '/c.pem', keyFile: '/k.pem' } },
      },
    ],
  ])('reads %s', (url, login) => {
    expect(natsLogin(url)).toEqual(login);
  });

  it('refuses what is no NATS URL, without repeating its password', () => {
    expect(() => natsLogin('http://gateway:secret@nats')).toThrow(
      /^NATS_URL must be nats:\/\/name:password@host:port,host:port$/,
    );
  });
});

it('withNatsPassword keeps hosts and parameters', () => {
  expect(withNatsPassword('tls://exe_1@a:4222,b?sslrootcert=/ca.pem', 'p@:s')).toBe(
    'tls://exe_1:p%40%3As@a:4222,b?sslrootcert=/ca.pem',
  );
});
