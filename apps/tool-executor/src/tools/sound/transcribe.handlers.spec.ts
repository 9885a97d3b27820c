import type { ServerResponse } from 'node:http';
import { serviceSettings } from '../../services/service-settings';
import { type ApiRequest, ApiServer, type SentFile, json } from '../../testing/api-server';
import { ExecutorFixture } from '../../testing/executor-fixture';
import { createToolServices } from '../tool-services';

const key = 'sk-transcription-1';
const endings = /\.(flac|m4a|mp3|mp4|mpeg|mpga|ogg|wav|webm)$/;
const refuse = (response: ServerResponse, status: number, message: string): void =>
  json(response, { error: { message, type: 'invalid_request_error' } }, status);

/** Refuses what OpenAI refuses: another path, no or a wrong key, no model, a file without an ending or of no sound. */
function answer({ path, method, headers, body }: ApiRequest, response: ServerResponse): void {
  const { file, ...fields } = body as { readonly file?: SentFile } & Readonly<Record<string, string>>;
  const { model, language, response_format: format } = fields;
  if (method !== 'POST' || path !== '/v1/audio/transcriptions') return refuse(response, 404, `Invalid URL (${path})`);
  if (headers.authorization !== `Bearer ${key}`) return refuse(response, 401, 'Incorrect API key provided');
  if (model !== 'whisper-1') return refuse(response, 404, `The model ${model} does not exist`);
  if (!file || !endings.test(file.name)) return refuse(response, 400, 'Invalid file format.');
  if (language !== undefined && !/^[a-z]{2}$/.test(language)) return refuse(response, 400, 'Invalid language');
  if (format !== 'json') return refuse(response, 400, 'Unknown response format');
  const { bytes } = file;
  if (!bytes.subarray(0, 4).equals(Buffer.from('RIFF'))) return refuse(response, 400, 'Audio file might be corrupted.');
  json(response, { text: bytes.subarray(4).toString() });
}

describe('transcribe', () => {
  let api: ApiServer;
  let fixture: ExecutorFixture;
  const put = (path: string, text: string) => fixture.use('create_file', { file_path: path, file_contents: text });
  const transcribe = (file_path: string, more = {}) => fixture.use('transcribe', { file_path, ...more });

  beforeAll(async () => {
    api = await ApiServer.open(answer);
    const settings = serviceSettings({ TRANSCRIPTION_API_KEY: key, TRANSCRIPTION_URL: `${api.url}/v1` });
    fixture = await ExecutorFixture.open({}, undefined, { services: createToolServices(settings, { pauseMs: 1 }) });
  });
  afterAll(async () => {
    await fixture.close();
    await api.close();
  });

  it('gives the words of a recording, and says in which language they are', async () => {
    await put('talk.wav', 'RIFFGood morning.');

    expect(await transcribe('talk.wav', { language: 'en' })).toEqual({
      success: true,
      output: '[talk.wav, wav: 13 characters]\n\nGood morning.',
    });
    expect(api.received.at(-1)?.body).toMatchObject({ language: 'en', model: 'whisper-1' });
  });

  it('saves a long text as a file', async () => {
    await put('long.MP3', `RIFF${'word '.repeat(10_000)}`);

    const { output } = await transcribe('long.MP3');

    const file = /\/workspace\/\.extracted\/long\.MP3-\w{8}\.txt/.exec(output)?.[0] ?? '';
    const command = `wc -w < ${file}`;
    expect((await fixture.use('execute_command', { command, blocking: true })).output.trim()).toBe('10000');
  });

  it('says that nothing is said', async () => {
    await put('silence.wav', 'RIFF ');

    expect((await transcribe('silence.wav')).output).toBe('[silence.wav: nothing is said in it]');
  });

  it.each([
    ['a file of another format', 'film.mkv', 'RIFF', 'Convert it with a command first'],
    ['a file that is none of its format', 'no.wav', 'no sound', 'status 400'],
    ['a file that is not there', 'none.wav', undefined, 'none.wav does not exist.'],
  ])('fails for %s', async (_, path, text, error) => {
    if (text !== undefined) await put(path, text);

    expect(await transcribe(path)).toMatchObject({ success: false, error: expect.stringContaining(error) as string });
  });

  it('is refused for a file that is too large, which is not sent', async () => {
    const before = api.received.length;
    await fixture.use('execute_command', { command: 'truncate -s 26214401 big.wav', blocking: true });

    expect((await transcribe('big.wav')).error).toContain('larger than 25 MB');
    expect(api.received).toHaveLength(before);
  });

  it('does not show the key where the service refuses it', async () => {
    const wrong = serviceSettings({ TRANSCRIPTION_API_KEY: 'sk-wrong', TRANSCRIPTION_URL: `${api.url}/v1` });
    const other = await ExecutorFixture.open({}, undefined, { services: createToolServices(wrong, { pauseMs: 1 }) });
    try {
      await other.use('create_file', { file_path: 'talk.wav', file_contents: 'RIFFHello.' });
      const { error } = await other.use('transcribe', { file_path: 'talk.wav' });
      expect(error).toContain('status 401');
      expect(error).not.toContain('sk-wrong');
    } finally {
      await other.close();
    }
  });
});
