import { PassThrough } from 'node:stream';
import { Terminal } from './terminal';

it('a table may have more rows than a function takes arguments', async () => {
  const streams = { input: new PassThrough(), output: new PassThrough(), errors: new PassThrough() };
  const rows = Array.from({ length: 200_000 }, (_, index) => [`${index}`, 'a']);

  new Terminal(streams, { json: false, colour: false }).table(rows);
  streams.output.end();

  expect((await streams.output.toArray()).join('').slice(0, 20)).toBe('0       a\n1       a\n');
});
