import { setTimeout as delay } from 'node:timers/promises';
import { DockerFixture, engineUnderTest } from '../../docker/testing/docker-fixture';
import { SandboxFixture } from '../../embedded/testing/sandbox-fixture';
import type { Sandbox } from '../../provider/sandbox';
import { run } from '../../testing/run-command';
import { newThreadId } from '../../testing/sandbox-provider-fixture';

/** Prints the number of every process that `attempt` succeeds with, but for those of the command itself. */
const forEveryProcess = (attempt: string) => `
  sleep 60 & own=$!
  for process in /proc/[0-9]*; do
    number=\${process#/proc/}
    [ "$number" = $$ ] || (${attempt}) >/dev/null 2>&1 || continue
    [ "$number" = $$ ] || [ "$number" = $own ] || echo "$number"
    [ "$number" = $own ] && worked=1
  done
  kill $own
  [ -n "$worked" ] || echo 'does not work at all'`;

/**
 * Replaces what the agent answers with the content of a file, in the source text that the engine has not compiled yet. The
 * replacement is as long as what it replaces.
 */
const forgery = `
  const fs = require('fs');
  const original = "wanted.subarray(0, filled).toString('base64')";
  const forged = 'Buffer.from("FORGED").toString("base64")'.padEnd(original.length);
  const maps = fs.readFileSync('/proc/' + process.argv[1] + '/maps', 'utf8').split('\\n');
  const memory = fs.openSync('/proc/' + process.argv[1] + '/mem', 'r+');
  for (const line of maps) {
    const [, from, to] = /^(\\w+)-(\\w+) rw/.exec(line) ?? [];
    if (from === undefined) continue;
    const start = parseInt(from, 16);
    const content = Buffer.alloc(Math.min(parseInt(to, 16) - start, 2 ** 28));
    try { fs.readSync(memory, content, 0, content.length, start); } catch { continue; }
    for (let at = content.indexOf(original); at >= 0; at = content.indexOf(original, at + 1)) {
      fs.writeSync(memory, forged, start + at);
      console.log('written');
    }
  }`;

describe.each([
  ['bubblewrap', () => SandboxFixture.open()],
  ['a container', () => DockerFixture.open(engineUnderTest)],
])('attack: the agent of a sandbox in %s', (_, open) => {
  let fixture: Awaited<ReturnType<typeof open>>;
  let sandbox: Sandbox;

  beforeAll(async () => {
    fixture = await open();
    sandbox = await fixture.provider.get(newThreadId());
  });
  afterAll(() => fixture.close());

  it('a command that rewrites it to forge the content of files', async () => {
    await run(sandbox, 'echo true > answer');

    const attempt = await run(sandbox, `node -e '${forgery.replaceAll("'", `'\\''`)}' $PPID`);

    expect(attempt.output).not.toContain('written');
    expect((await sandbox.files.read('answer')).content.toString()).toBe('true\n');
    await expect(run(sandbox, 'cat answer')).resolves.toMatchObject({ output: 'true\n', exitCode: 0 });
  });

  it.each([
    ['writes to its memory', ': <>"$process/mem"'],
    ['reads its memory', ': <"$process/mem"'],
    ['looks up its descriptors', 'ls "$process/fd"'],
    ['reads its environment', 'cat "$process/environ"'],
    ['protects itself from being killed first', 'echo 1000 >"$process/oom_score_adj"'],
  ])('a command that %s', async (_, attempt) => {
    const { output } = await run(sandbox, forEveryProcess(attempt));

    expect(output).toBe('');
  });

  it('a command that switches its debugger on', async () => {
    const { output } = await run(sandbox, 'kill -USR1 $PPID && echo sent');
    expect(output).toBe('sent\n');

    await expect(sandbox.files.stat('.')).resolves.toBeDefined(); // It has handled the signal by now.
    await delay(500); // A debugger starts in a thread of its own, which nothing announces.
    const { exitCode } = await run(sandbox, '(: <>/dev/tcp/127.0.0.1/9229) 2>/dev/null');

    expect(exitCode).toBe(1);
  });

  it('a command that leaves dead processes behind', async () => {
    const orphans = 'for i in $(seq 20); do (setsid true &); done';
    const zombies = "cat /proc/[0-9]*/stat 2>/dev/null | grep -c '(true) Z'";

    const { exitCode } = await run(sandbox, `${orphans}; while [ "$(${zombies})" != 0 ]; do sleep 0.05; done`);

    expect(exitCode).toBe(0);
  });
});
