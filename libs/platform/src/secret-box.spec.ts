import { randomBytes } from 'node:crypto';
import { SealBroken, SecretBox, secretsKey } from './secret-box';

const newKey = () => randomBytes(32).toString('base64');

describe('SecretBox', () => {
  const box = new SecretBox(newKey());

  it('opens what it has sealed for the same purpose', () => {
    const sealed = box.seal('Bearer 1234 ü', 'acc_1 https://one.example');
    expect(sealed).not.toContain('1234');
    expect(box.open(sealed, 'acc_1 https://one.example')).toBe('Bearer 1234 ü');
  });

  it('seals the same secret differently each time', () => {
    expect(box.seal('one', 'here')).not.toBe(box.seal('one', 'here'));
  });

  it('refuses a key of another length', () => {
    expect(secretsKey.safeParse(newKey()).success).toBe(true);
    expect(secretsKey.safeParse(randomBytes(16).toString('base64')).success).toBe(false);
  });
});

describe('attack: a sealed secret', () => {
  const box = new SecretBox(newKey());
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
    expect(() => new SecretBox(newKey()).open(sealed, 'acc_1 https://one.example')).toThrow(SealBroken);
  });
});
