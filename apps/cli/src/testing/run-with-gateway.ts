import { PassThrough } from 'node:stream';
import { Rondo } from '@rondo/client';
import type { Command } from '../command';
import { parseArguments } from '../parse-arguments';
import { Terminal } from '../terminal';

interface Asked {
  readonly answer: (request: Request) => Response | Promise<Response>;
  readonly json?: boolean;
  /** What is in the pipe; absent: a person is at a terminal. */
  readonly input?: Buffer | string;
}

/** Runs a command against a gateway that answers so. */
export async function runWithGateway(
  command: Command,
  words: readonly string[],
  { answer, json = false, input }: Asked,
) {
  const isTTY = input === undefined;
  const createScreen = () => Object.assign(new PassThrough(), { isTTY });
  const streams = { input: createScreen(), output: createScreen(), errors: createScreen() };
  streams.input.end(input);
  const terminal = new Terminal(streams, { json, colour: false });
  const fetched: typeof fetch = async (...request) => answer(new Request(...request));
  const rondo = () => new Rondo({ baseUrl: 'http://gateway', retries: 0, fetch: fetched });
  const context = { terminal, rondo, url: 'http://gateway', key: () => 'key' };
  const ended = await command.run(parseArguments(command, words), context).then(
    (ending) => ({ ending }),
    (error: unknown) => ({ error }),
  );
  const read = async (stream: PassThrough) => {
    stream.end();
    return (await stream.toArray()).join('');
  };
  return { ...ended, output: await read(streams.output), errors: await read(streams.errors) };
}
