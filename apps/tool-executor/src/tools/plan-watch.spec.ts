import { ExecutorFixture, aCall } from '../testing/executor-fixture';

describe('the plan in todo.md', () => {
  let fixture: ExecutorFixture;
  const planAfter = async (name: string, args: Record<string, unknown>) => {
    const reply = await fixture.reply(aCall(name, args));
    return reply.how === 'answered' ? reply.plan : reply;
  };
  const shell = (command: string) => planAfter('execute_command', { command, blocking: true });

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  it('is reported with the answer of each call that changes it, a file tool or a command, and no other', async () => {
    expect(await shell('echo no plan yet')).toBeUndefined();
    expect(
      await planAfter('create_file', { file_path: 'todo.md', file_contents: '- [ ] Read\n- [ ] Write\n' }),
    ).toEqual({
      items: [
        { text: 'Read', done: false },
        { text: 'Write', done: false },
      ],
      done: 0,
      total: 2,
    });
    expect(await planAfter('create_file', { file_path: 'other.md', file_contents: '- [ ] x' })).toBeUndefined();
    expect(await planAfter('read_file', { file_path: 'todo.md' })).toBeUndefined();

    expect(await shell(`sed -i 's/\\[ \\] Read/[x] Read/' todo.md`)).toMatchObject({ done: 1, total: 2 });
    expect(await shell('true')).toBeUndefined();
    await fixture.restart();
    expect(await shell('true')).toMatchObject({ done: 1 });
  });

  it('is no plan where it is a folder, a link to the host or no list', async () => {
    expect(await shell('rm todo.md; mkdir todo.md')).toBeUndefined();
    expect(await shell('rmdir todo.md; ln -s /etc/passwd todo.md')).toBeUndefined();
    expect(await shell('rm todo.md; head -c 1000000 /dev/urandom > todo.md')).toBeUndefined();
    expect(await shell('rm todo.md; mkfifo todo.md')).toBeUndefined();
  });
});
