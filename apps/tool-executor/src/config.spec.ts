import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '@rondo/platform';
import { environment, toSandboxSettings, toShutdownMs, toSlots, withPasswordOfFile } from './config';

const least = {
  PORT: '0',
  NATS_URL: 'nats://nats:4222',
  EXECUTOR_ID_FILE: '/data/id',
  SANDBOX_ROOT: '/data/sandboxes',
};
const settingsFor = (more: Record<string, string>) => toSandboxSettings(environment.parse({ ...least, ...more }));

describe('the executor’s configuration', () => {
  it('leaves the defaults of sandbox limits to the sandbox settings', () => {
    expect(settingsFor({})).toMatchObject({
      root: '/data/sandboxes',
      bubblewrapPath: 'bwrap',
      memoryBytes: 2_147_483_648,
    });
  });

  it('converts limits from the units in their names', () => {
    const settings = settingsFor({
      SANDBOX_MEMORY_MB: '512',
      SANDBOX_IDLE_S: '60',
      SANDBOX_CPU: '0.5',
      SANDBOX_ALLOWED_HOSTS: 'registry.example.org, *.example.com',
    });

    expect(settings).toMatchObject({
      memoryBytes: 536_870_912,
      idleMs: 60_000,
      cpu: 0.5,
      egress: { policy: 'public', allowedHosts: ['registry.example.org', '*.example.com'] },
    });
  });

  it('names the internal host that is invalid', () => {
    const { egress } = settingsFor({ SANDBOX_INTERNAL_HOSTS: 'git.internal:3000, 127.0.0.1:9000' });
    expect(egress).toMatchObject({ policy: 'public', internalHosts: ['git.internal:3000', '127.0.0.1:9000'] });
    expect(settingsFor({}).egress.internalHosts).toEqual([]);

    const wrong = { ...least, SANDBOX_INTERNAL_HOSTS: 'git.internal:3000,git.internal' };
    expect(() => parseConfig(environment, wrong)).toThrow('SANDBOX_INTERNAL_HOSTS.1: expected host:port, for example');
  });

  it('gives a shutdown the time that workspaces may be copied for, where they are copied', () => {
    const shutdownMs = (more: Record<string, string>) => toShutdownMs(environment.parse({ ...least, ...more }));
    const copies = { TOOL_DRAIN_S: '30', SANDBOX_SNAPSHOTS: 's3://rondo/workspaces' };

    expect(shutdownMs({ TOOL_DRAIN_S: '30' })).toBe(34_000);
    expect(shutdownMs(copies)).toBe(39_000);
    expect(shutdownMs({ ...copies, SANDBOX_SNAPSHOTS_CLOSE_S: '60' })).toBe(94_000);
  });

  it('takes the password of NATS from its file, so that no variable holds it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rondo-config-'));
    const file = join(folder, 'password');
    writeFileSync(file, 's3cret/@:%\n');
    const config = environment.parse({ ...least, NATS_URL: 'tls://executor-1@nats:4222', NATS_PASSWORD_FILE: file });

    const { username, password, host, protocol } = new URL(withPasswordOfFile(config).NATS_URL);

    expect({ username, password: decodeURIComponent(password), host, protocol }).toEqual({
      ...{ username: 'executor-1', password: 's3cret/@:%' },
      ...{ host: 'nats:4222', protocol: 'tls:' },
    });
    expect(withPasswordOfFile(environment.parse(least)).NATS_URL).toBe(least.NATS_URL);
    rmSync(folder, { recursive: true });
  });

  it.each([
    [{}, { total: 32, perAccount: 16, perThread: 8 }],
    [{ TOOL_CONCURRENCY: '3' }, { total: 3, perAccount: 2, perThread: 1 }],
    [{ TOOL_CONCURRENCY: '1' }, { total: 1, perAccount: 1, perThread: 1 }],
    [
      { TOOL_CONCURRENCY_PER_ACCOUNT: '30', TOOL_CONCURRENCY_PER_THREAD: '4' },
      { total: 32, perAccount: 30, perThread: 4 },
    ],
  ])('shares its slots so that no account has all: %j', (given, slots) => {
    expect(toSlots(environment.parse({ ...least, ...given }))).toEqual(slots);
  });

  it.each([
    ['file:///mnt/copies', { kind: 'folder', folder: '/mnt/copies' }],
    ['s3://rondo-1/', { kind: 's3', bucket: 'rondo-1', prefix: '' }],
    ['s3://rondo.copies/a/b/', { kind: 's3', bucket: 'rondo.copies', prefix: 'a/b' }],
  ])('keeps copies of workspaces at %s', (url, place) => {
    expect(environment.parse({ ...least, SANDBOX_SNAPSHOTS: url }).SANDBOX_SNAPSHOTS).toEqual(place);
  });

  it.each([
    [{ SANDBOX_SNAPSHOTS: '/mnt/copies' }, 'SANDBOX_SNAPSHOTS: expected s3://bucket/prefix or file:///folder'],
    [{ SANDBOX_SNAPSHOTS: 'file://host/copies' }, 'SANDBOX_SNAPSHOTS: expected s3://bucket/prefix or file:///folder'],
    [{ SANDBOX_SNAPSHOTS: 's3://Rondo' }, 'SANDBOX_SNAPSHOTS: expected s3://bucket/prefix or file:///folder'],
    [
      { SANDBOX_SNAPSHOTS: 's3://rondo', SANDBOX_S3_ACCESS_KEY_ID: 'id' },
      'SANDBOX_S3_SECRET_ACCESS_KEY: required with SANDBOX_S3_ACCESS_KEY_ID',
    ],
    [
      { SANDBOX_SNAPSHOTS: 's3://rondo', SANDBOX_S3_SECRET_ACCESS_KEY: 'secret' },
      'SANDBOX_S3_ACCESS_KEY_ID: required with SANDBOX_S3_SECRET_ACCESS_KEY',
    ],
    [
      { SANDBOX_SNAPSHOTS: 'file:///mnt/copies', SANDBOX_S3_REGION: 'eu' },
      'SANDBOX_S3_REGION: takes effect with SANDBOX_SNAPSHOTS=s3://… only; unset it',
    ],
  ])('refuses copies that cannot work: %j', (given, message) => {
    expect(() => parseConfig(environment, { ...least, ...given })).toThrow(message);
  });

  it('requires the limits of control groups in production, unless switched off', () => {
    expect(settingsFor({}).requireLimits).toBe(false);
    expect(settingsFor({ NODE_ENV: 'production' }).requireLimits).toBe(true);
    expect(settingsFor({ NODE_ENV: 'production', SANDBOX_REQUIRE_LIMITS: '0' }).requireLimits).toBe(false);
    expect(settingsFor({ SANDBOX_REQUIRE_LIMITS: '1' }).requireLimits).toBe(true);
  });

  it('reads denied networks, and names the one that is invalid', () => {
    const { egress } = settingsFor({
      SANDBOX_DENIED_NETWORKS: '203.0.113.0/24, 2001:db8::/32',
      SANDBOX_REQUESTS_PER_S: '5',
    });
    expect(egress).toMatchObject({ deniedNetworks: ['203.0.113.0/24', '2001:db8::/32'], requestsPerSecond: 5 });
    expect(settingsFor({}).egress).toMatchObject({ deniedNetworks: [], requestsPerSecond: 50 });

    const wrong = { ...least, SANDBOX_DENIED_NETWORKS: '203.0.113.0/24,203.0.113.0/33' };
    expect(() => parseConfig(environment, wrong)).toThrow('SANDBOX_DENIED_NETWORKS.1: expected a network, for example');
  });

  it('switches isolation off only for an explicit 1', () => {
    expect(settingsFor({}).unsafeHost).toBe(false);
    expect(settingsFor({ SANDBOX_UNSAFE_HOST: '0' }).unsafeHost).toBe(false);
    expect(settingsFor({ SANDBOX_UNSAFE_HOST: '1' }).unsafeHost).toBe(true);
    expect(() => settingsFor({ SANDBOX_UNSAFE_HOST: 'perhaps' })).toThrow();
  });

  describe('of Docker', () => {
    const docker = { ...least, SANDBOX_PROVIDER: 'docker', SANDBOX_INSTALL: 'production' };

    it('needs no more than the name of the deployment', () => {
      expect(toSandboxSettings(parseConfig(environment, docker))).toMatchObject({
        ...{ provider: 'docker', install: 'production' },
        docker: { socketPath: '/var/run/docker.sock', image: 'node:24-bookworm' },
      });
    });

    it.each([
      ['SANDBOX_INSTALL', { SANDBOX_INSTALL: '' }],
      ['SANDBOX_UNSAFE_HOST', { SANDBOX_UNSAFE_HOST: '1' }],
      ['SANDBOX_DISK_HARD', { SANDBOX_DISK_HARD: 'required' }],
      ['SANDBOX_WARM', { SANDBOX_WARM: '1' }],
    ])('refuses to start with a wrong %s', (name, given) => {
      expect(() => parseConfig(environment, { ...docker, ...given })).toThrow(`${name}: `);
    });
  });

  it('prepares isolated sandboxes of its own host only', () => {
    const settings = (given: object) => toSandboxSettings(parseConfig(environment, { ...least, ...given }));

    expect(settings({})).toMatchObject({ prepared: 0, maxAwake: 128 });
    expect(settings({ SANDBOX_WARM: '3', SANDBOX_MAX: '16' })).toMatchObject({ prepared: 3, maxAwake: 16 });
    expect(() => settings({ SANDBOX_WARM: '3', SANDBOX_UNSAFE_HOST: '1' })).toThrow('SANDBOX_WARM: ');
  });

  describe('of Daytona', () => {
    const daytona = {
      ...least,
      SANDBOX_PROVIDER: 'daytona',
      SANDBOX_INSTALL: 'production',
      DAYTONA_API_URL: 'https://daytona.example.org/api',
      DAYTONA_API_KEY: 'dtn_secret',
    };

    it('is complete with an account, and has intervals after which Daytona cleans up by itself', () => {
      expect(toSandboxSettings(parseConfig(environment, daytona))).toMatchObject({
        ...{ provider: 'daytona', install: 'production' },
        daytona: { apiKey: 'dtn_secret', autoStopMinutes: 15, autoArchiveMinutes: 60, autoDeleteMinutes: 10_080 },
      });
    });

    it.each([
      ['SANDBOX_INSTALL', { SANDBOX_INSTALL: '' }],
      ['DAYTONA_API_URL', { DAYTONA_API_URL: '' }],
      ['DAYTONA_API_KEY', { DAYTONA_API_KEY: '' }],
      ['SANDBOX_ALLOWED_HOSTS', { SANDBOX_ALLOWED_HOSTS: 'example.org' }],
      ['DAYTONA_IMAGE', { DAYTONA_IMAGE: 'debian:12', DAYTONA_SNAPSHOT: 'rondo' }],
      ['DAYTONA_CPU', { DAYTONA_CPU: '2' }],
      ['SANDBOX_WARM', { SANDBOX_WARM: '1' }],
      ['DAYTONA_AUTO_DELETE_MIN', { DAYTONA_AUTO_DELETE_MIN: '0' }],
    ])('refuses to start with a wrong %s, and does not show the key', (name, given) => {
      const start = () => parseConfig(environment, { ...daytona, ...given });

      expect(start).toThrow(`${name}: `);
      expect(start).not.toThrow('dtn_secret');
    });
  });
});
