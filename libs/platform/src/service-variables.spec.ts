import { hostname } from 'node:os';
import { z } from 'zod';
import {
  holderName,
  leaseVariables,
  leasesOutliveHeartbeats,
  serverVariables,
  port,
  serviceVariables,
} from './service-variables';
import { parseConfig } from './load-config';

const schema = z.object({ ...serviceVariables, ...serverVariables(4), PORT: port.default(3000) });
const least = { DATABASE_URL: 'postgresql://host/db', REDIS_URL: 'redis://host', NATS_URL: 'nats://host:4222' };
const read = (more: Record<string, string> = {}) => parseConfig(schema, { ...least, ...more });

describe('the variables of every service', () => {
  it('needs its servers and nothing else', () => {
    expect(read()).toEqual({
      ...least,
      HOST: '127.0.0.1',
      PORT: 3000,
      LOG_LEVEL: 'info',
      METRICS_OPEN: false,
      DATABASE_POOL_SIZE: 4,
    });
    expect(() => parseConfig(schema, {})).toThrow(/DATABASE_URL: .*\n {2}REDIS_URL: .*\n {2}NATS_URL: /);
  });

  it.each(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])('logs at the level %s', (LOG_LEVEL) => {
    expect(read({ LOG_LEVEL })).toMatchObject({ LOG_LEVEL });
  });

  it.each([
    ['DATABASE_URL', ['mysql://host/db', 'nonsense', 'host:5432/db'], 'must be postgresql://'],
    ['REDIS_URL', ['nonsense', 'http://host', 'host:6379'], 'must begin with redis://'],
    ['REDIS_URL', ['redis://:10%@host'], 'must have a % of a user or password as %25'],
    ['NATS_URL', ['nats://a:10%@host:4222'], 'must have a % of a user or password as %25'],
  ])('refuses %s %j before it is used', (name, urls, words) => {
    for (const url of urls) expect(() => read({ [name]: url })).toThrow(`${name}: ${words}`);
  });

  it.each([
    [
      'DATABASE_URL',
      ['postgres://u:p%40@host,other/db?sslmode=require', 'postgresql://u:10%@host/db', 'socket:/run/pg?db=a'],
    ],
    ['REDIS_URL', ['rediss://:p%25@host:6379/2', 'redis+sentinel://a:p@s1:26379,s2:26379/rondo', '/run/redis.sock']],
  ])('takes %s %j', (name, urls) => {
    for (const url of urls) expect(read({ [name]: url })).toMatchObject({ [name]: url });
  });

  it.each([
    'nats://nats:4222',
    'tls://nats.example.org',
    'nats://gateway:secret@nats:4222',
    'nats://executor-1@nats:4222', // its password is in a file
    'nats://gateway:secret@n1:4222,n2:4222,n3:4222',
    'tls://gateway:secret@nats:4222?sslrootcert=/etc/ca.pem&sslcert=/etc/c.pem&sslkey=/etc/k.pem',
  ])('finds NATS at %s', (NATS_URL) => {
    expect(read({ NATS_URL })).toMatchObject({ NATS_URL });
  });

  it.each([
    'http://nats:4222',
    'nats:4222',
    'nats://',
    'nats://na/me:password@nats:4222',
    'nats://nats?ssl=1',
    'nats://nats?sslcert=/c&',
  ])('does not look for NATS at %s', (NATS_URL) => {
    expect(() => read({ NATS_URL })).toThrow('NATS_URL: must be nats://name:password@host:port');
  });

  it('treats an empty variable as absent', () => {
    expect(read({ HOST: '', PORT: '', LOG_LEVEL: '', METRICS_TOKEN: '' })).toEqual(read());
  });

  it('refuses a port out of range', () => {
    expect(read({ PORT: '0' }).PORT).toBe(0);
    expect(() => read({ PORT: '65536' })).toThrow('PORT: ');
  });
});

describe('leases', () => {
  const leased = z.object(leaseVariables).check(leasesOutliveHeartbeats);

  it('last at least two heartbeats', () => {
    expect(parseConfig(leased, {})).toEqual({ LEASE_MS: 15_000, HEARTBEAT_MS: 4_000 });
    expect(() => parseConfig(leased, { LEASE_MS: '7999' })).toThrow('LEASE_MS: must be at least twice HEARTBEAT_MS');
  });
});

describe('the name of a lease holder', () => {
  const named = z.object({ NAME: holderName('role-') });
  const toName = (env: Record<string, string>) => parseConfig(named, env).NAME;

  it('begins with the configured prefix, or with its role and the host', () => {
    const host = hostname()
      .replaceAll(/[^A-Za-z0-9_-]/g, '-')
      .slice(0, 40);

    expect(toName({ NAME: 'left' })).toMatch(new RegExp(`^left-${process.pid}-[0-9a-z]+$`));
    expect(toName({})).toMatch(new RegExp(`^role-${host}-${process.pid}-[0-9a-z]+$`));
  });

  it('differs from that of an earlier process', () => {
    jest.useFakeTimers({ now: 1_000 });
    const before = toName({ NAME: 'left' });
    jest.setSystemTime(2_000);

    expect(toName({ NAME: 'left' })).not.toBe(before);
    jest.useRealTimers();
  });

  it('has only letters, digits, dashes and underscores', () => {
    expect(() => toName({ NAME: 'left.hand' })).toThrow('NAME: ');
  });
});
