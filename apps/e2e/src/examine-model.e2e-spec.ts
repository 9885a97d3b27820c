import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { strictProviders } from './strict-providers/providers';
import { StrictServer } from './strict-providers/strict-server';

const program = join(__dirname, '../../cli/bin/rondo.mjs');

/** Those that differ most; each takes two processes. */
const names = ['openai', 'openai-responses', 'deepseek', 'zai', 'gemini', 'openrouter', 'mistral', 'xai', 'anthropic'];
const examined = strictProviders.filter(({ name }) => names.includes(name));

interface Found {
  readonly findings: readonly { readonly name: string; readonly status: string; readonly found: string }[];
  readonly declare: { readonly profile?: object } | null;
  readonly calls: number;
  readonly written: boolean;
}

describe('rondo doctor --model', () => {
  let server: StrictServer;
  let folder: string;

  beforeAll(async () => {
    server = await StrictServer.open();
    folder = mkdtempSync(join(tmpdir(), 'rondo-examine-'));
  });

  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  /** With the providers in a file of its own, as `npm run setup` writes it. */
  async function examine(model: string, { providers = server.modelProviders, words = [] as string[] } = {}) {
    const file = join(folder, `${model.replaceAll(/\W/g, '-')}.env`);
    writeFileSync(file, `MODEL_PROVIDERS='${providers}'\n`);
    const given = ['doctor', '--model', model, '--env-file', file, ...words];
    const child = spawn(process.execPath, [program, ...given], { cwd: folder, env: { PATH: process.env.PATH } });
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number]>,
    ]);
    return { output, errors, code, file };
  }

  it.each(examined.map(({ name, model }) => [name, model]))('%s', async (name, model) => {
    const { output, errors, code } = await examine(`${name}/${model}`, { words: ['--json'] });
    const { findings, declare, calls } = JSON.parse(output) as Found;

    expect({ findings: findings.filter(({ status }) => status === 'broken'), errors }).toEqual({
      findings: [],
      errors: '',
    });
    expect(findings.find((one) => one.name === 'too long')?.found).toContain('its words are known');
    // Some of the maker's other models do see images, so its profile does not say so.
    const declared = name === 'zai' ? { name, profile: { text_only: true } } : null;
    expect({ declare, code }).toEqual({ declare: declared, code: 0 });
    expect(calls).toBeLessThanOrEqual(40);
  });

  /** The same servers under a name that says nothing, with the rules of another maker. */
  const asStranger = (provider: string) => {
    const entries = JSON.parse(server.modelProviders) as { name: string }[];
    const entry = entries.find(({ name }) => name === provider);
    return JSON.stringify([
      { name: 'other', base_url: 'http://127.0.0.1:1' },
      { ...entry, name: 'lab', profile: 'openai' },
    ]);
  };

  it.each([
    ['gemini', { plain_schemas: true, documents: 'image' }],
    ['mistral', { no_user_after_tool: true }],
    ['openrouter', { documents: 'file' }],
    ['groq', { efforts: ['none', 'low', 'medium', 'high'] }],
  ])('finds the rules of %s and writes them, so that nothing is left to be found', async (provider, rules) => {
    const { model = '' } = strictProviders.find(({ name }) => name === provider) ?? {};
    const asked = `lab/${model}`;

    const first = await examine(asked, { providers: asStranger(provider), words: ['--json', '--write'] });
    const { declare, written, calls } = JSON.parse(first.output) as Found;
    expect({ declare, written }).toEqual({
      declare: { name: 'lab', profile: expect.objectContaining({ like: 'openai', ...rules }) },
      written: true,
    });
    expect(calls).toBeLessThanOrEqual(40);

    const [, value = '[]'] = /MODEL_PROVIDERS='(.*)'/.exec(readFileSync(first.file, 'utf8')) ?? [];
    expect(JSON.parse(value)).toMatchObject([{ name: 'other' }, { name: 'lab', profile: declare?.profile }]);
    const second = await examine(asked, { providers: value });
    expect(second).toMatchObject({ code: 0, output: expect.stringContaining('Nothing is to be declared') });
  });

  it('says in words what it found, and writes nothing unless told to', async () => {
    const { model = '' } = strictProviders.find(({ name }) => name === 'gemini') ?? {};
    const providers = asStranger('gemini');

    const { output, file } = await examine(`lab/${model}`, { providers });

    expect(output).toMatch(/✓ loop of calls +1 step/);
    expect(output).toContain('To be declared in MODEL_PROVIDERS');
    expect(readFileSync(file, 'utf8')).toBe(`MODEL_PROVIDERS='${providers}'\n`);
  });

  it.each([
    ['nowhere/m', 1, 'There is no model provider "nowhere"'],
    ['other/m', 1, 'cannot be reached'],
  ])('says why %s cannot be asked', async (model, code, reason) => {
    const found = await examine(model, { providers: asStranger('gemini') });

    expect({ code: found.code, said: found.output + found.errors }).toEqual({
      code,
      said: expect.stringContaining(reason),
    });
  });
});
