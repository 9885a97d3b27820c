import { type Zippable, zipSync } from 'fflate';
import { readSkill } from './read-skill';
import { unpackZip } from './unpack-zip';

const manifest = Buffer.from('---\nname: evil\ndescription: Looks harmless.\n---\n');
const text = Buffer.from('x');
const pack = (entries: Zippable): Buffer => Buffer.from(zipSync({ 'SKILL.md': manifest, ...entries }));
const upload = async (archive: Buffer): Promise<string> => {
  try {
    readSkill(await unpackZip(archive));
    return 'taken';
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'skill_refused') return error.message;
    throw error;
  }
};

/** The archive with other bytes wherever it has these: names and headers stand in it twice. */
function replaceAll(archive: Buffer, from: Buffer, to: Buffer): Buffer {
  const changed = Buffer.from(archive);
  for (let at = changed.indexOf(from); at !== -1; at = changed.indexOf(from, at + 1)) to.copy(changed, at);
  return changed;
}

/** The archive with a change to the head of each entry in its directory, and of each entry before its content. */
function changeHeads(archive: Buffer, change: (head: Buffer, isCentral: boolean) => void): Buffer {
  const changed = Buffer.from(archive);
  for (const [mark, isCentral] of [
    ['PK\u0001\u0002', true],
    ['PK\u0003\u0004', false],
  ] as const) {
    const signature = Buffer.from(mark);
    for (let at = changed.indexOf(signature); at !== -1; at = changed.indexOf(signature, at + 1))
      change(changed.subarray(at), isCentral);
  }
  return changed;
}

describe('attack: a hostile skill', () => {
  it.each(['../escape', 'a/../../escape', '/etc/passwd', 'a//b', './a', 'C:/windows', '..\\escape', 'a/..'])(
    'a path that leads out of its folder: %s',
    async (path) => {
      expect(await upload(pack({ [path]: text }))).toMatch(/leads out|absolute|cannot be read/);
    },
  );

  it.each([
    ['a symbolic link', 0o120777],
    ['a device', 0o060666],
    ['a named pipe', 0o010666],
  ])('an entry that is %s', async (_, mode) => {
    expect(await upload(pack({ link: [Buffer.from('/etc/passwd'), { os: 3, attrs: mode << 16 }] }))).toContain(
      'a link or another special file',
    );
  });

  it('a program with the rights of its owner loses them', async () => {
    const archive = pack({ 'run.sh': [text, { os: 3, attrs: 0o104755 << 16 }] });
    const { files } = readSkill(await unpackZip(archive));

    expect(files.map(({ path, is_executable }) => [path, is_executable])).toEqual([
      ['SKILL.md', false],
      ['run.sh', true],
    ]);
  });

  it('a bomb: a small archive with a file that is enormous', async () => {
    const bomb = pack({ 'data.bin': Buffer.alloc(64 * 1024 * 1024) });

    expect(bomb.length).toBeLessThan(200_000);
    expect(await upload(bomb)).toContain('too large');
  });

  it('a bomb that declares a small size', async () => {
    const size = 64 * 1024 * 1024;
    const declared = Buffer.alloc(4);
    declared.writeUInt32LE(size);
    const bomb = replaceAll(pack({ 'data.bin': Buffer.alloc(size) }), declared, Buffer.from([100, 0, 0, 0]));

    expect(await upload(bomb)).toMatch(/too large|cannot be read/);
  });

  it('a bomb of many files that are each as large as one may be', async () => {
    const each = Buffer.alloc(5 * 1024 * 1024);
    const names = ['a', 'b', 'c', 'd', 'e'];

    expect(await upload(pack(Object.fromEntries(names.map((name) => [name, each]))))).toContain('too large');
  });

  it('too many files', async () => {
    const many = Array.from({ length: 501 }, (_, index) => [`f${index}`, text]);
    expect(await upload(pack(Object.fromEntries(many)))).toContain('more than 500 files');
  });

  it('too many folders', async () => {
    const many = Array.from({ length: 1_001 }, (_, index) => [`f${index}/`, Buffer.alloc(0)]);
    expect(await upload(pack(Object.fromEntries(many)))).toContain('more than 1000 entries');
  });

  it('two entries with the same name', async () => {
    const archive = replaceAll(
      pack({ 'run-1.sh': text, 'run-2.sh': text }),
      Buffer.from('run-2.sh'),
      Buffer.from('run-1.sh'),
    );
    expect(await upload(archive)).toContain('same path');
  });

  it.each([
    ['of two files', { 'Run.sh': text, 'run.sh': text }, 'same path'],
    ['of a second SKILL.md', { 'skill.md': text }, 'same path'],
    ['of two folders', { 'Scripts/a': text, 'scripts/b': text }, 'Two folders'],
    ['of letters in two forms', { 'caf\u00e9': text, 'cafe\u0301': text }, 'same path'],
  ])('names that one file system takes for one: %s', async (_, entries, reason) => {
    expect(await upload(pack(entries))).toContain(reason);
  });

  it('a file where another has its folder', async () => {
    expect(await upload(pack({ scripts: text, 'scripts/run.sh': text }))).toContain('A file and a folder');
  });

  it.each([
    ['a line break', 'a\nb'],
    ['an escape sequence', 'a\u001b[2Jb'],
    ['NUL', 'a\u0000b'],
    ['a mark that turns the text around', 'a\u202egnp.sh'],
    ['a character of no width', 'run\u200b.sh'],
  ])('a name with %s', async (_, name) => {
    expect(await upload(pack({ [name]: text }))).toContain('control or invisible');
  });

  it('a name that is no UTF-8', async () => {
    const archive = replaceAll(
      pack({ 'name-xx': text }),
      Buffer.from('name-xx'),
      Buffer.from('name-\xff\xfe', 'latin1'),
    );
    expect(await upload(archive)).toContain('not UTF-8');
  });

  it('an encrypted entry', async () => {
    const archive = changeHeads(pack({ a: text }), (head, isCentral) => {
      const at = isCentral ? 8 : 6;
      head.writeUInt16LE(head.readUInt16LE(at) | 1, at);
    });
    expect(await upload(archive)).toContain('encrypted');
  });

  it('a path that is too long, or too deep', async () => {
    expect(await upload(pack({ ['a'.repeat(241)]: text }))).toContain('longer than');
    expect(await upload(pack({ ['a/'.repeat(12) + 'b']: text }))).toContain('parts');
  });

  it('content that is not what its checksum says', async () => {
    const archive = changeHeads(pack({ a: text }), (head, isCentral) => head.writeUInt32LE(1, isCentral ? 16 : 14));
    expect(await upload(archive)).toContain('damaged');
  });

  it.each([
    ['an archive that was cut', pack({ a: text }).subarray(0, 60)],
    ['no archive', Buffer.from('PK and then nothing')],
  ])('%s', async (_, archive) => {
    expect(await upload(archive)).toContain('cannot be read');
  });

  it('front matter whose aliases stand for a million values', async () => {
    const levels = Array.from(
      { length: 7 },
      (_, level) => `  l${level + 1}: &l${level + 1} [${Array(10).fill(`*l${level}`).join(', ')}]`,
    );
    const bomb = `---\nname: evil\ndescription: x\nmetadata:\n  l0: &l0 [x]\n${levels.join('\n')}\n---\n`;

    expect(await upload(Buffer.from(zipSync({ 'SKILL.md': Buffer.from(bomb) })))).toContain('more than 1000 values');
  });

  it('front matter that makes an object of a class, or a prototype', async () => {
    const tagged = '---\nname: evil\ndescription: !!js/function "function () {}"\n---\n';
    expect(await upload(Buffer.from(zipSync({ 'SKILL.md': Buffer.from(tagged) })))).toContain('YAML');
    const polluting = '---\nname: evil\ndescription: x\nmetadata:\n  __proto__:\n    polluted: yes\n---\n';
    await upload(Buffer.from(zipSync({ 'SKILL.md': Buffer.from(polluting) })));
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('the archive of an ordinary skill', () => {
  it('is taken, so that a refusal of the others says something', async () => {
    expect(await upload(pack({ 'scripts/run.sh': text }))).toBe('taken');
  });
});
