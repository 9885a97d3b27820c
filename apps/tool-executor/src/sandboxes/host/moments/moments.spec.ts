import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CompiledExecutor, firstOutput } from '../../../testing/compiled-executor';
import { Moments } from './moments';

const thread = 'thr_1';
const mebibyte = 1024 * 1024;

let home: string;
let workspace: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'moments-'));
  workspace = join(home, 'workspace');
  mkdirSync(workspace);
});
afterEach(() => rm(home, { recursive: true, force: true }));

const open = (settings: { maxBytes?: number; maxEntries?: number } = {}) =>
  new Moments({
    ...{ root: home, maxBytes: 1_024 * mebibyte, maxEntries: 100_000, ...settings },
    openRoot: (threadId) => {
      const root = threadId === thread ? workspace : join(home, threadId);
      mkdirSync(root, { recursive: true });
      return Promise.resolve(root);
    },
    putToSleep: () => Promise.resolve(),
    requireSpace: () => Promise.resolve(),
    log: { info: () => undefined, warn: () => undefined },
  });

const doing = async (moments: Moments, call: string, change: () => void, run = 'run_1') => {
  const end = await moments.enter(thread, { run, call, labels: {} });
  change();
  end();
};
const back = (moments: Moments, moment: string, run = `run_to_${moment}`) =>
  moments.bringBack(thread, { of: thread, moment, run, labels: {} });

/** Everything that comes back, by the bytes of its path. */
function snapshot(directory: Buffer | string, path = Buffer.from('')): Map<string, string> {
  const all = new Map<string, string>();
  const inodes = new Map<number, string>();
  const visit = (at: Buffer, shown: Buffer) => {
    for (const name of readdirSync(at, { encoding: 'buffer' }).sort(Buffer.compare)) {
      const [full, below] = [
        Buffer.concat([at, Buffer.from('/'), name]),
        Buffer.concat([shown, Buffer.from('/'), name]),
      ];
      const status = lstatSync(full);
      const mode = (status.mode & 0o7777).toString(8);
      const key = below.toString('latin1');
      if (status.isSymbolicLink())
        all.set(key, `link ${readlinkSync(full, { encoding: 'buffer' }).toString('latin1')}`);
      else if (status.isDirectory()) {
        all.set(key, `directory ${mode}`);
        visit(full, below);
      } else {
        const first = inodes.get(status.ino) ?? key;
        if (status.nlink > 1) inodes.set(status.ino, first);
        all.set(
          key,
          `file ${mode} ${Math.round(status.mtimeMs)} ${first === key ? '' : first} ${readFileSync(full).toString('base64')}`,
        );
      }
    }
  };
  visit(Buffer.from(directory), path);
  return all;
}

/** The same numbers for the same seed. */
function toRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const oddNames = ['a', 'b b', "it's", '\n', 'ü', '-rf', '.hidden', '"', '*', '\u202e', 'node_modules'].map((name) =>
  Buffer.from(name),
);
oddNames.push(Buffer.from([0xff, 0xfe, 0x41]), Buffer.from([0xc3]), Buffer.from('x'.repeat(255)));

function changeAtRandom(random: (below: number) => number): void {
  const folders = [Buffer.from(workspace)];
  const visit = (at: Buffer) => {
    for (const entry of readdirSync(at, { encoding: 'buffer' })) {
      const full = Buffer.concat([at, Buffer.from('/'), entry]);
      if (lstatSync(full).isDirectory() && full.length < 2_000) {
        folders.push(full);
        visit(full);
      }
    }
  };
  visit(Buffer.from(workspace));
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T; // none is empty
  const at = Buffer.concat([pick(folders), Buffer.from('/'), pick(oddNames)]);
  const status = lstatSync(at, { throwIfNoEntry: false });
  const action = random(8);
  if (status && (action === 0 || !status.isFile())) return rmSync(at, { recursive: true, force: true });
  if (status && action === 1) return chmodSync(at, pick([0o644, 0o755, 0o600, 0o4755, 0o2755, 0o444]));
  if (!status && action === 2) return mkdirSync(at, { mode: pick([0o755, 0o700, 0o1777]) });
  if (!status && action === 3)
    return symlinkSync(pick([Buffer.from('/etc/passwd'), Buffer.from('..'), Buffer.from([0xff])]), at);
  if (!status && action === 4) {
    const files = [...snapshot(workspace)].flatMap(([path, what]) => (what.startsWith('file') ? [path] : []));
    if (files.length > 0)
      return linkSync(Buffer.concat([Buffer.from(workspace), Buffer.from(pick(files), 'latin1')]), at);
  }
  writeFileSync(at, Buffer.alloc(pick([0, 1, 5, 100, 5_000, 600_000]), random(256)));
}

describe('Moments', () => {
  it('brings back 100 random points byte for byte, in any order', async () => {
    const random = toRandom(20_251_128);
    const moments = open();
    const points: Map<string, string>[] = [];
    for (let point = 0; point < 100; point += 1) {
      await doing(moments, `call_${point}`, () => {
        for (let change = random(12); change >= 0; change -= 1) changeAtRandom(random);
      });
      await moments.find(thread, []); // by then it is kept
      points.push(snapshot(workspace));
    }

    for (let round = 0; round < 100; round += 1) {
      const point = random(100);
      await back(moments, `call_${point}`, `run_${round}`);
      expect(snapshot(workspace)).toEqual(points[point]);
    }
  });

  it('brings back what was before the first call of a run, and what a return has replaced', async () => {
    const moments = open();
    writeFileSync(join(workspace, 'upload'), 'from a person');
    await doing(moments, 'call_1', () => rmSync(join(workspace, 'upload')));

    await expect(back(moments, 'run_1', 'run_2')).resolves.toMatchObject({ created: { count: 1, paths: ['upload'] } });
    expect(readFileSync(join(workspace, 'upload'), 'utf8')).toBe('from a person');
    await back(moments, 'before-run_2', 'run_3');
    expect(readdirSync(workspace)).toEqual([]);
  });

  it('sees a change that leaves size and time as they were', async () => {
    const moments = open();
    const file = join(workspace, 'file');
    await doing(moments, 'call_1', () => writeFileSync(file, 'one'));
    await moments.find(thread, []);
    const { mtime } = lstatSync(file);
    await doing(moments, 'call_2', () => {
      writeFileSync(file, 'two');
      execFileSync('touch', ['-d', mtime.toISOString(), file]);
    });

    await back(moments, 'call_1');
    expect(readFileSync(file, 'utf8')).toBe('one');
    await back(moments, 'call_2');
    expect(readFileSync(file, 'utf8')).toBe('two');
  });

  it('says before a return what it would do', async () => {
    const moments = open();
    await doing(moments, 'call_1', () =>
      ['kept', 'edited', 'deleted'].map((name) => writeFileSync(join(workspace, name), name)),
    );
    await doing(moments, 'call_2', () => {
      rmSync(join(workspace, 'deleted'));
      writeFileSync(join(workspace, 'edited'), 'otherwise');
      mkdirSync(join(workspace, 'new'));
      writeFileSync(join(workspace, 'new', 'file'), '');
    });

    await expect(moments.preview(thread, 'call_1', {})).resolves.toEqual({
      created: { count: 1, paths: ['deleted'] },
      changed: { count: 1, paths: ['edited'] },
      removed: { count: 2, paths: ['new', 'new/file'] },
    });
  });

  it('fills the workspace of another thread, and leaves that of the first as it is', async () => {
    const moments = open();
    await doing(moments, 'call_1', () => writeFileSync(join(workspace, 'file'), 'one'));
    await doing(moments, 'call_2', () => writeFileSync(join(workspace, 'file'), 'two'));

    await moments.bringBack('thr_2', { of: thread, moment: 'call_1', run: 'run_2', labels: {} });
    expect(readFileSync(join(home, 'thr_2', 'file'), 'utf8')).toBe('one');
    expect(readFileSync(join(workspace, 'file'), 'utf8')).toBe('two');

    await moments.remove(thread);
    await moments.bringBack('thr_2', { of: 'thr_2', moment: 'before-run_2', run: 'run_3', labels: {} });
    await expect(back(moments, 'call_1')).rejects.toThrow('Nothing was kept of the files at that point.');
  });

  it('takes no older state for a call that was not kept', async () => {
    await doing(open(), 'call_1', () => writeFileSync(join(workspace, 'file'), 'one'));
    await open().enter(thread, { run: 'run_1', call: 'call_2', labels: {} }); // its executor is killed

    await expect(open().find(thread, ['run_1', 'call_1', 'call_2'])).resolves.toEqual({
      moment: null,
      refused: 'The executor ended before the files were kept.',
    });
    await expect(back(open(), 'call_2')).rejects.toThrow('The executor ended before the files were kept.');
  });

  it('says why a state was not kept', async () => {
    const full = open({ maxBytes: mebibyte });
    await doing(full, 'call_1', () => writeFileSync(join(workspace, 'large'), Buffer.alloc(2 * mebibyte, 1)));
    await expect(back(full, 'call_1')).rejects.toThrow('takes more than 1 MiB (SANDBOX_REWIND_MB)');

    rmSync(join(workspace, 'large'));
    const many = open({ maxEntries: 3 });
    await doing(many, 'call_2', () => ['1', '2', '3', '4'].map((name) => writeFileSync(join(workspace, name), '')));
    await expect(back(many, 'call_2')).rejects.toThrow('more than 3 files');
  });

  it('does not begin a return while a call is at work', async () => {
    const moments = open();
    await doing(moments, 'call_1', () => undefined);
    await moments.enter(thread, { run: 'run_1', call: 'call_2', labels: {} });
    await expect(back(moments, 'call_1')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('completes, when it is repeated, what a kill has interrupted', async () => {
    const built = await CompiledExecutor.build();
    const moments = open();
    for (const call of ['one', 'two'])
      await doing(moments, call, () => {
        for (let file = 0; file < 300; file += 1)
          writeFileSync(join(workspace, `${file}`), `${call} ${file}`.repeat(2_000));
      });
    await moments.find(thread, []);
    for (let round = 0; round < 6; round += 1) {
      const child = built.start(`
        const { Moments } = require(built + '/sandboxes/host/moments/moments');
        const log = { info() {}, warn() {} };
        const nothing = async () => {};
        const moments = new Moments({
          root: ${JSON.stringify(home)}, maxBytes: 1e9, maxEntries: 1e5, log,
          openRoot: async () => ${JSON.stringify(workspace)}, putToSleep: nothing, requireSpace: nothing,
        });
        (async () => {
          console.log('begins');
          for (let n = 0; ; n += 1)
            await moments.bringBack('thr_1', { of: 'thr_1', moment: n % 2 ? 'one' : 'two', run: 'run_${round}_' + n, labels: {} });
        })();`);
      const exited = once(child, 'exit');
      await firstOutput(child);
      await delay(30 + round * 60); // each round dies somewhere else
      child.kill('SIGKILL');
      expect(await exited).toEqual([null, 'SIGKILL']);

      await back(open(), round % 2 ? 'one' : 'two', `run_${round}`);
      expect(readdirSync(workspace)).toHaveLength(300);
      expect(readFileSync(join(workspace, '7'), 'utf8')).toMatch(round % 2 ? /^one 7/ : /^two 7/);
    }
    await built.remove();
  });
});
