import { isAllowedImage, parseImageReference, toEngineName } from './image-reference';

const digest = `sha256:${'a'.repeat(64)}`;

describe('the reference of an image', () => {
  it.each([
    ['python', 'docker.io/library/python:latest'],
    ['python:3.12', 'docker.io/library/python:3.12'],
    ['docker.io/python', 'docker.io/library/python:latest'],
    ['you/image', 'docker.io/you/image:latest'],
    ['localhost/image', 'localhost/image:latest'],
    ['localhost:5000/image', 'localhost:5000/image:latest'],
    ['ghcr.io/you/image:1', 'ghcr.io/you/image:1'],
    [`python:3.12@${digest}`, `docker.io/library/python@${digest}`],
  ])('%s is %s', (text, name) => {
    expect(toEngineName(parseImageReference(text))).toBe(name);
  });

  it.each([
    ['python:3.12', 'python', true],
    ['docker.io/library/python:3.12', 'python', true],
    [`python@${digest}`, 'python', true],
    ['python:3.12', 'python:3.12', true],
    ['python:3.13', 'python:3.12', false],
    ['python', 'python:latest', true],
    [`python:3.12@${digest}`, 'python:3.12', false],
    [`python:3.12@${digest}`, `python@${digest}`, true],
    ['python', `python@${digest}`, false],
    ['ghcr.io/you/image:1', 'ghcr.io/you/*', true],
    ['ghcr.io/you-too/image', 'ghcr.io/you/*', false],
    ['ghcr.io/you', 'ghcr.io/you/*', false],
    ['you/image', 'you/*', true],
    ['ghcr.io/you/image', 'you/*', false],
    ['evil.example/library/python', 'python', false],
    ['python-evil', 'python', false],
  ])('%s where %s is allowed: %s', (text, entry, expected) => {
    expect(isAllowedImage(text, [entry])).toBe(expected);
    expect(isAllowedImage(text, ['other', entry])).toBe(expected);
    expect(isAllowedImage(text, [])).toBe(false);
  });
});
