import { ExecutorFixture, aCall } from '../../testing/executor-fixture';

/** Writes to the channel of its program, with the mark that it finds in its own arguments. */
const forge = (text: string): string => `
import os, sys, time
mark = sys.argv[1]
def write(text):
    data = ("\\n" + mark + text + "\\n").encode()
    while data:
        data = data[os.write(4, data):]
${text}
time.sleep(60)`;

describe('attack: programs that call tools', () => {
  let fixture: ExecutorFixture;
  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  const start = (source: string, timeoutMs = 10_000) =>
    fixture.reply(aCall('run_program', { language: 'python', source }, { timeoutMs }));
  const findError = async (source: string, timeoutMs?: number) => {
    const reply = await start(source, timeoutMs);
    return reply.how === 'answered' && !reply.calls ? reply.result.error : undefined;
  };
  afterEach(async () => {
    const left = await fixture.use('execute_command', {
      command: 'pgrep -fc "time.sleep[(]60" || true',
      blocking: true,
    });
    expect(left.output.trim()).toMatch(/^0/);
  });

  it('a program that loops', async () => {
    expect(await findError('while True: pass', 1_500)).toContain('it ran for 1.5 s without an end');
  });

  it('a program that asks for more calls at a time than it may', async () => {
    const source = forge(`write('.{"calls":[' + ','.join(['{"name":"a","arguments":{}}'] * 21) + ']}')`);

    expect(await findError(source)).toContain('It wrote a message that is none');
  });

  it('a program that floods its channel with requests', async () => {
    const source = forge(`
for _ in range(300):
    write('.{"calls":[{"name":"a","arguments":{}}]}')`);
    const first = await start(source);

    expect(first).toMatchObject({ calls: [{ position: 0 }] });
    await fixture.restart();
  });

  it('a program that sends a message without an end', async () => {
    const source = forge(`
for _ in range(2000):
    write('+' + 'a' * 1000)`);

    expect(await findError(source)).toContain('The arguments of a call are too long');
  });

  it('a program that sends what is no message', async () => {
    expect(await findError(forge(`write('.{"calls":[],"as":"admin"}')`))).toContain('It wrote a message that is none');
    expect(await findError(forge(`write('.' + '{' * 1000)`))).toContain('It wrote a message that is none');
  });

  it('a program that prints what looks like a request of another', async () => {
    const reply = await start(`print('\\n0123456789abcdef01234567 .{"calls":[{"name":"a","arguments":{}}]}\\n')`);

    expect(reply).toMatchObject({ how: 'answered', result: { success: true } });
    expect(reply).not.toHaveProperty('calls');
  });
});
