import { internalHost } from './target';

describe('internalHost', () => {
  it.each([
    ['git.internal:3000', 'git.internal:3000'],
    ['Git.Internal:80', 'git.internal:80'],
    ['127.0.0.1:9000', '127.0.0.1:9000'],
    ['[0:0::1]:443', '[::1]:443'],
  ])('normalises %s as `URL` does', (given, read) => {
    expect(internalHost.parse(given)).toBe(read);
    expect(internalHost.parse(read)).toBe(read);
  });

  it.each([
    '',
    'git.internal',
    'git.internal:',
    'git.internal:0',
    'git.internal:70000',
    'http://git.internal:3000',
    'user@git.internal:3000',
    'git.internal:3000/path',
    '*.internal:3000',
    '::1:443',
    '[nonsense]:443',
    'git internal:80',
  ])('refuses %s', (given) => {
    expect(internalHost.safeParse(given).error?.issues).toMatchObject([
      { message: expect.stringContaining('host:port') },
    ]);
  });
});
