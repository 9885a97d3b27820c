import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { SealBroken, SecretBox, secretsKey } from './secret-box';

const newKey = () => randomBytes(32).toString('base64');

describe('SecretBox', () => {
  const box = new SecretBox(newKey(), 'mcp');

  it('opens what it has sealed for the same purpose', () => {
    const sealed = box.seal('Bearer 1234 ü', 'acc_1 https://one.example');
    expect(sealed).not.toContain('1234');
    expect(box.open(sealed, 'acc_1 https://one.example')).toBe('Bearer 1234 ü');
  });

  it('seals the same secret differently each time', () => {
    expect(box.seal('one', 'here')).not.toBe(box.seal('one', 'here'));
  });

  it('refuses a key of another length', () => {
    const short = randomBytes(16).toString('base64');
    for (const good of [newKey(), `${newKey()},${newKey()}`, `mcp:${newKey()}`, `mcp:${newKey()},${newKey()}`])
      expect(secretsKey.safeParse(good).success).toBe(true);
    for (const bad of [short, `${newKey()},`, `${newKey()},${short}`, `other:${newKey()}`, 'no base64'])
      expect(secretsKey.safeParse(bad).success).toBe(false);
  });

  it('opens with the derived key what the key that it comes from has sealed, and the other way round', () => {
    const master = newKey();
    const derived = derivedFor('mcp', master);

    expect(new SecretBox(derived, 'mcp').open(new SecretBox(master, 'mcp').seal('one', 'here'), 'here')).toBe('one');
    expect(new SecretBox(master, 'mcp').open(new SecretBox(derived, 'mcp').seal('two', 'here'), 'here')).toBe('two');
  });

  it('opens what was sealed before there was a key for each use', () => {
    const master = newKey();
    expect(new SecretBox(master, 'mcp').open(sealedBefore('old', { master, purpose: 'here' }), 'here')).toBe('old');
  });
});

const derivedFor = (use: string, master: string): string => {
  const derived = hkdfSync('sha256', Buffer.from(master, 'base64'), '', `rondo secrets ${use}`, 32);
  return `${use}:${Buffer.from(derived).toString('base64')}`;
};

/** As the version before sealed it. */
function sealedBefore(secret: string, { master, purpose }: { readonly master: string; readonly purpose: string }) {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(master, 'base64'), iv).setAAD(Buffer.from(purpose));
  return `v1.${Buffer.concat([iv, cipher.update(secret), cipher.final(), cipher.getAuthTag()]).toString('base64')}`;
}

describe('a SecretBox while its key is rotated', () => {
  const [older, newer] = [newKey(), newKey()];
  const rotating = new SecretBox(`${newer},${older}`, 'webhooks');

  it('opens with both keys and seals with the first', () => {
    expect(rotating.open(new SecretBox(older, 'webhooks').seal('one', 'here'), 'here')).toBe('one');
    expect(rotating.open(sealedBefore('two', { master: older, purpose: 'here' }), 'here')).toBe('two');
    expect(new SecretBox(newer, 'webhooks').open(rotating.seal('three', 'here'), 'here')).toBe('three');
  });

  it('renews what the older key has sealed, once', () => {
    const before = [
      new SecretBox(older, 'webhooks').seal('one', 'here'),
      sealedBefore('one', { master: older, purpose: 'here' }),
    ];
    for (const sealed of before) {
      const renewed = rotating.renew(sealed, 'here');
      expect(new SecretBox(newer, 'webhooks').open(renewed, 'here')).toBe('one');
      expect(rotating.renew(renewed, 'here')).toBe(renewed);
    }
  });
});

describe('attack: the secrets key of an executor', () => {
  const master = newKey();
  const executor = derivedFor('mcp', master);

  it.each(['webhooks', 'triggers'] as const)('opens no secret of %s', (use) => {
    const sealed = new SecretBox(master, use).seal('one', 'here');
    expect(() => new SecretBox(executor, 'mcp').open(sealed, 'here')).toThrow(SealBroken);
    expect(() => new SecretBox(executor, use)).toThrow(`no key for the use ${use}`);
  });

  it('opens nothing that was sealed before there was a key for each use', () => {
    const sealed = sealedBefore('one', { master, purpose: 'here' });
    expect(() => new SecretBox(executor, 'mcp').open(sealed, 'here')).toThrow(SealBroken);
  });
});

describe('attack: a sealed secret', () => {
  const box = new SecretBox(newKey(), 'mcp');
  const sealed = box.seal('Bearer 1234', 'acc_1 https://one.example');

  it.each([
    ['of another account', sealed, 'acc_2 https://one.example'],
    ['for another server', sealed, 'acc_1 https://evil.example'],
    ['that is cut', sealed.slice(0, 20), 'acc_1 https://one.example'],
    ['that was changed', `${sealed.slice(0, -6)}AAAA==`, 'acc_1 https://one.example'],
    ['that is plain text', 'Bearer 1234', 'acc_1 https://one.example'],
  ])('%s is not opened', (_, given, purpose) => {
    expect(() => box.open(given, purpose)).toThrow(SealBroken);
  });

  it('is not opened by another key', () => {
    expect(() => new SecretBox(newKey(), 'mcp').open(sealed, 'acc_1 https://one.example')).toThrow(SealBroken);
  });
});
