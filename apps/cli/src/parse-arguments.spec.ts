import type { Command } from './command';
import { findCommand, parseArguments } from './parse-arguments';

const done = () => Promise.resolve('ok' as const);
const get: Command = {
  name: 'files get',
  summary: 'Get a file',
  args: [{ name: 'ID' }, { name: 'PATH', optional: true }],
  options: [
    { name: 'output', short: 'o', value: 'FILE', help: '' },
    { name: 'tag', also: ['label'], value: 'TAG', repeatable: true, help: '' },
    { name: 'force', help: '' },
  ],
  run: done,
};
const stop: Command = { name: 'stop', summary: 'Stop', args: [{ name: 'RUN', repeatable: true }], run: done };

describe('findCommand', () => {
  it('finds commands of one word and of two', () => {
    expect(findCommand([get, stop], ['files', 'get', 'a'])).toEqual([get, ['a']]);
    expect(findCommand([get, stop], ['stop', 'files'])).toEqual([stop, ['files']]);
    expect(findCommand([get, stop], ['files'])).toBeUndefined();
  });
});

describe('parseArguments', () => {
  it('reads arguments and options in any order', () => {
    const given = parseArguments(get, ['a', '-o', 'x', '--tag=1', '--tag', '2', '--force', '--json', 'b']);

    expect(given.args).toEqual(['a', 'b']);
    expect([
      given.value('output'),
      given.values('tag'),
      given.has('force'),
      given.has('json'),
      given.has('url'),
    ]).toEqual(['x', ['1', '2'], true, true, false]);
  });

  it('reads an option by its other names', () => {
    const given = parseArguments(get, ['a', '--label', '2', '--tag', '1']);

    expect(given.values('tag')).toEqual(['1', '2']);
    expect(given.has('tag')).toBe(true);
  });

  it('takes what follows -- as it is', () => {
    expect(parseArguments(stop, ['--', '--json']).args).toEqual(['--json']);
  });

  it.each([
    [get, [], 'ID is missing. See: rondo help files get'],
    [get, ['a', 'b', 'c'], 'c is one argument too many'],
    [get, ['a', '--wrong'], "Unknown option '--wrong'"],
    [get, ['a', '--output'], "Option '-o, --output <value>' argument missing"],
    [stop, [], 'RUN is missing'],
  ] as [Command, string[], string][])('refuses a wrong line', (command, words, message) => {
    expect(() => parseArguments(command, words)).toThrow(message);
  });

  it('requires no arguments of a question for help', () => {
    expect(parseArguments(get, ['--help']).has('help')).toBe(true);
  });
});
