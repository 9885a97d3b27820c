import { ProgramError, run } from '../../../deploy/local/run-program.mjs';

const node = (program: string, options = {}) => run(process.execPath, ['-e', program], options);

describe('run', () => {
  it('resolves with the output', async () => {
    await expect(node('console.log(1); console.error(2)')).resolves.toEqual({ stdout: '1\n', stderr: '2\n' });
  });

  it('rejects with the output of a program that fails', async () => {
    const failed = node('console.log("so far"); process.exit(3)');
    await expect(failed).rejects.toMatchObject({ stdout: 'so far\n', message: expect.stringContaining('code 3') });
    await expect(failed).rejects.toBeInstanceOf(ProgramError);
  });

  it('kills a program that does not end in time, and says so', async () => {
    const endless = node('console.log("so far"); process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)', {
      timeoutMs: 1_000,
    });
    await expect(endless).rejects.toMatchObject({
      stdout: 'so far\n',
      message: expect.stringContaining('SIGKILL after 1 s'),
    });
  });

  it('does not wait for a process that the program has left behind', async () => {
    const { stdout } = await node(`
      const child = require('node:child_process').spawn('sleep', ['300'], { stdio: 'inherit', detached: true });
      child.unref();
      console.log(child.pid);
    `);
    process.kill(Number(stdout)); // throws unless it still runs
  });
});
