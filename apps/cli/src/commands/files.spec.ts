import { UsageError } from '../command';
import { runWithGateway } from '../testing/run-with-gateway';
import { filesGet, filesList, filesPut } from './files';

describe('files put with -', () => {
  it('writes what is piped, byte for byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const written: Buffer[] = [];
    const answer = async (request: Request) => {
      written.push(Buffer.from(await request.arrayBuffer()));
      return Response.json({ path: 'picture.png', size: bytes.length });
    };

    await runWithGateway(filesPut, ['sbx_1', '-', 'picture.png'], { answer, input: bytes });

    expect(written.map((content) => content.equals(bytes))).toEqual([true]);
  });

  it.each([
    ['at a terminal, where nothing is piped', ['sbx_1', '-', 'notes.txt'], undefined],
    ['without a name for the file', ['sbx_1', '-'], 'piped'],
  ])('replaces no file %s', async (_, words, input) => {
    const answer = jest.fn();

    const { error } = (await runWithGateway(filesPut, words, { answer, ...(input && { input }) })) as {
      error: unknown;
    };

    expect(error).toBeInstanceOf(UsageError);
    expect(answer).not.toHaveBeenCalled();
  });
});

it('files ls says that there are more also where it prints JSON', async () => {
  const answer = () => Response.json({ data: [{ path: 'a', kind: 'file', size: 1 }], truncated: true });

  const { errors } = await runWithGateway(filesList, ['sbx_1'], { answer, json: true, input: '' });

  expect(errors).toBe('rondo: There are more; name a directory.\n');
});

describe('files get', () => {
  const answer = () => new Response('a\u001b]0;owned\u0007b\n');

  it('shows no control characters at a terminal, and all bytes in a pipe', async () => {
    expect(await runWithGateway(filesGet, ['sbx_1', 'a'], { answer })).toMatchObject({ output: 'a]0;ownedb\n' });
    expect(await runWithGateway(filesGet, ['sbx_1', 'a'], { answer, input: '' })).toMatchObject({
      output: 'a\u001b]0;owned\u0007b\n',
    });
  });

  it('says why a file cannot be written', async () => {
    const words = ['sbx_1', 'a', '-o', '/nonexistent/a'];

    const { error } = (await runWithGateway(filesGet, words, { answer })) as { error: Error };

    expect(error.message).toContain('no such file or directory');
  });
});
