import type { Skill, SkillVersion } from '@rondo/contract';
import { unzipSync, zipSync } from 'fflate';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();
let key: string;
beforeEach(async () => void (key = await gateway.toKey('an account')));

const manifest = (more = '') => `---
name: csv-totals
description: Adds up columns.
license: MIT
metadata:
  author: example-org
  version: 1.0
${more}---

Run scripts/sum.sh.
`;
type Files = Readonly<Record<string, string>>;
const files: Files = { 'SKILL.md': manifest(), 'scripts/sum.sh': '#!/bin/sh\necho 3\n' };

const upload = async (given: Files = files, executable: readonly string[] = ['scripts/sum.sh']) => {
  const form = new FormData();
  form.set('executable', JSON.stringify(executable));
  for (const [path, text] of Object.entries(given)) form.append('files', new Blob([text]), path);
  const encoded = new Response(form);
  const request = gateway
    .as(key)
    .post('/v1/skills')
    .set('Content-Type', encoded.headers.get('Content-Type') ?? '');
  return request.send(Buffer.from(await encoded.arrayBuffer()));
};
const create = async (given: Files = files): Promise<Skill> => (await upload(given)).body as Skill;
const read = async (path: string) => (await gateway.as(key).get(path).expect(200)).body;
const readBytes = async (path: string): Promise<Buffer> =>
  (await gateway.as(key).get(path).responseType('blob').expect(200)).body as Buffer;

describe('skills', () => {
  it('are uploaded as files, and say what their SKILL.md says', async () => {
    const made = await create();

    expect(made).toMatchObject({
      name: 'csv-totals',
      version: 1,
      description: 'Adds up columns.',
      license: 'MIT',
      compatibility: null,
      allowed_tools: [],
      metadata: { author: 'example-org', version: '1' },
      file_count: 2,
    });
    expect(await read(`/v1/skills/${made.id}`)).toEqual(made);
    expect((await read('/v1/skills')).data).toEqual([made]);
    expect(await read(`/v1/skills/${made.id}/versions/1/files`)).toMatchObject({
      data: [
        { path: 'SKILL.md', is_executable: false },
        { path: 'scripts/sum.sh', is_executable: true, size: 17 },
      ],
    });
    const script = await readBytes(`/v1/skills/${made.id}/versions/1/file?path=scripts/sum.sh`);
    expect(script.toString()).toBe(files['scripts/sum.sh']);
  });

  it('are downloaded as an archive that can be uploaded again, as the same version', async () => {
    const made = await create();
    const archive = await readBytes(`/v1/skills/${made.id}/versions/1/content`);

    expect(Object.keys(unzipSync(archive)).sort()).toEqual(['csv-totals/SKILL.md', 'csv-totals/scripts/sum.sh']);
    const { body } = await gateway.as(key).post('/v1/skills').attach('files', archive, 'csv-totals.zip').expect(201);
    expect(body).toEqual(made);
  });

  it('get a version for other files, and keep the earlier ones', async () => {
    const first = await create();
    const second = await create({ ...files, 'SKILL.md': manifest('compatibility: needs sh\n') });

    expect(second).toMatchObject({ id: first.id, version: 2, compatibility: 'needs sh' });
    const { data } = (await read(`/v1/skills/${first.id}/versions`)) as { data: SkillVersion[] };
    expect(data.map(({ version }) => version)).toEqual([2, 1]);
    expect((await read(`/v1/skills/${first.id}/versions/1`)).sha256).toBe(first.sha256);
    const page = await read(`/v1/skills/${first.id}/versions?limit=1`);
    expect((await read(`/v1/skills/${first.id}/versions?limit=1&after=${page.next_cursor}`)).data).toEqual([data[1]]);
    expect(second.created_at).toBe(first.created_at);
  });

  it('are deleted with their versions, which is in the audit log', async () => {
    const { id } = await create();

    await gateway.as(key).delete(`/v1/skills/${id}`).expect(204);

    await gateway.as(key).get(`/v1/skills/${id}`).expect(404);
    expect((await read('/v1/audit')).data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'skill.create', target: id, outcome: 'done' }),
        expect.objectContaining({ action: 'skill.delete', target: id, outcome: 'done' }),
      ]),
    );
    const rows = await gateway.ownerDatabase.sql.query('select 1 from skill_files where skill_id = $1', [id]);
    expect(rows).toEqual([]);
  });

  it('of another account do not exist', async () => {
    const { id } = await create();
    const stranger = gateway.as(await gateway.toKey('a stranger'));

    for (const path of ['', '/versions', '/versions/1', '/versions/1/files', '/versions/1/content'])
      expect((await stranger.get(`/v1/skills/${id}${path}`).expect(404)).body.code).toBe('skill_not_found');
    await stranger.get(`/v1/skills/${id}/versions/1/file?path=SKILL.md`).expect(404);
    await stranger.delete(`/v1/skills/${id}`).expect(404);
  });

  it.each([
    ['no SKILL.md', { 'README.md': 'Hello.' }, 'no SKILL.md'],
    ['no front matter', { 'SKILL.md': 'Hello.' }, 'front matter'],
    ['a name in another form', { 'SKILL.md': '---\nname: CSV Totals\ndescription: x\n---\n' }, 'name'],
    ['a name with two hyphens', { 'SKILL.md': '---\nname: a--b\ndescription: x\n---\n' }, 'name'],
    ['no description', { 'SKILL.md': '---\nname: csv\n---\n' }, 'description'],
    [
      'a description that is too long',
      { 'SKILL.md': `---\nname: a\ndescription: ${'x'.repeat(1_025)}\n---\n` },
      'description',
    ],
    ['front matter that is no YAML', { 'SKILL.md': '---\nname: [\n---\n' }, 'YAML'],
  ])('with %s are refused', async (_, given, reason) => {
    const { status, body } = await upload(given, []);

    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'skill_refused', detail: expect.stringContaining(reason) });
  });

  it('keep what other products say in front matter out of the way', async () => {
    const made = await create({ 'SKILL.md': manifest('allowed-tools: Bash(git:*) Read\nargument-hint: "[file]"\n') });

    expect(made.allowed_tools).toEqual(['Bash(git:*)', 'Read']);
  });

  it('leave out what programs put into archives', async () => {
    const archive = zipSync({
      'csv-totals/SKILL.md': Buffer.from(manifest()),
      'csv-totals/.DS_Store': Buffer.from('x'),
      '__MACOSX/csv-totals/._SKILL.md': Buffer.from('x'),
    });
    const { body } = await gateway
      .as(key)
      .post('/v1/skills')
      .attach('files', Buffer.from(archive), 'a.zip')
      .expect(201);

    expect(body.file_count).toBe(1);
  });
});
