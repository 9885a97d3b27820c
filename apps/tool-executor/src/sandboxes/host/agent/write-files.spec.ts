import fs, { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Draft {
  readonly path: string;
  readonly draft: string;
  readonly mode: 'create' | 'put';
}

interface AgentFiles {
  write(asked: Omit<Draft, 'draft'> & { readonly content: string }): Promise<object>;
  append(asked: Draft & { readonly offset?: number; readonly content: string }): Promise<object>;
  finish(asked: Draft): Promise<object>;
  sweep(): Promise<void>;
}

const { Files } = createRequire(__filename)('./in-sandbox/files.cjs') as {
  Files: new (about: { readonly workspace: string }) => AgentFiles;
};

const toContent = (text: string): string => Buffer.from(text).toString('base64');
const content = toContent('half ');
const rest = toContent('a file');

describe('a file that is written in a sandbox', () => {
  let workspace: string;
  let files: AgentFiles;
  const draft = '6f1c0a3e-7f1d-4c55-9a52-0e0a6a1d3b11';
  const toDraft = (mode: Draft['mode'] = 'put'): Draft => ({ path: join(workspace, 'folder/file'), draft, mode });

  beforeEach(async () => {
    workspace = await mkdtemp(join(tmpdir(), 'write-files-'));
    files = new Files({ workspace });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(workspace, { recursive: true });
  });

  it('leaves nothing of its parts where something else has its name by the end', async () => {
    await files.append({ ...toDraft('create'), content });
    await writeFile(toDraft().path, 'of another one');

    await expect(files.finish(toDraft('create'))).rejects.toMatchObject({ code: 'already_exists' });

    expect(await readdir(workspace)).toEqual(['folder']);
    expect(await readdir(join(workspace, 'folder'))).toEqual(['file']);
  });

  it('leaves nothing of its parts where its sandbox is killed, once that starts anew', async () => {
    await files.append({ ...toDraft(), content });
    expect(await readdir(workspace)).toEqual([`.rondo-${draft}.part`, 'folder']);

    await new Files({ workspace }).sweep();

    expect(await readdir(workspace)).toEqual(['folder']);
  });

  it('is given up where its sandbox was started anew between two parts', async () => {
    await files.append({ ...toDraft(), content });
    const anew = new Files({ workspace });
    await anew.sweep();

    await expect(anew.append({ ...toDraft(), offset: 5, content: rest })).rejects.toMatchObject({ code: 'lost' });
    await expect(anew.finish(toDraft())).rejects.toMatchObject({ code: 'lost' });

    expect(await readdir(join(workspace, 'folder'))).toEqual([]);
  });

  it.each(['mkdir', 'appendFile', 'rename'] as const)(
    'leaves nothing and says what to do where the disk is full at its %s',
    async (step) => {
      await mkdir(join(workspace, 'folder'));
      await writeFile(toDraft().path, 'as it was');
      const failure = Object.assign(new Error(`no space left on device, ${step}`), { code: 'ENOSPC' });
      jest.spyOn(fs, step).mockRejectedValue(failure);
      const path = step === 'mkdir' ? join(workspace, 'other/file') : toDraft().path;

      await expect(files.write({ path, mode: 'put', content })).rejects.toMatchObject({
        code: 'failed',
        message: expect.stringMatching(/^The workspace is full.*Delete files with delete_file, then try again\.$/),
      });

      expect(await readdir(workspace)).toEqual(['folder']);
      expect(await readdir(join(workspace, 'folder'))).toEqual(['file']);
      expect(await readFile(toDraft().path, 'utf8')).toBe('as it was');
    },
  );
});
