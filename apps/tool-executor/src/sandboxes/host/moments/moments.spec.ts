import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CompiledExecutor, firstOutput } from '../../../testing/compiled-executor';
import { MomentStore } from './moment-store';
import { Moments } from './moments';
import { toStored } from './tree-entry';

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

const open = (settings: { maxBytes?: number; accountBytes?: number; maxEntries?: number } = {}) =>
  new Moments({
    ...{ root: home, maxBytes: 1_024 * mebibyte, accountBytes: 1_024 * mebibyte, maxEntries: 100_000, ...settings },
    openRoot: (threadId) => {
      const root = threadId === thread ? workspace : join(home, threadId);
      mkdirSync(root, { recursive: true });
      return Promise.resolve(root);
    },
    putToSleep: () => Promise.resolve(),
    requireSpace: () => Promise.resolve(),
    log: { info: () => undefined, warn: () => undefined },
  });

const doing = async (moments: Moments, call: string, change: () => void, of = thread) => {
  const end = await moments.enter(of, { run: 'run_1', call, labels: { account: 'acc_1' } });
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

/** What the store of a thread has of contents and drafts. */
function measureStore(of = thread): number {
  const entries = readdirSync(join(home, '.moments', of), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name !== 'moments.jsonl')
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);
}

/** What all states of a store consist of. */
function measureStates(store: MomentStore): number {
  const contents = new Map<string, number>();
  const add = (tree: string): void => {
    contents.set(tree, store.measure(tree));
    for (const entry of store.readTree(tree)) {
      if (entry.kind === 'directory') add(entry.tree);
      if (entry.kind === 'file' && entry.hard === undefined)
        contents.set(toStored(entry), store.measure(toStored(entry)));
    }
  };
  for (const { tree } of store.readRecords()) if (tree !== undefined) add(tree);
  return [...contents.values()].reduce((sum, bytes) => sum + bytes, 0);
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

  it('brings back files that are older than 1970', async () => {
    const moments = open();
    await doing(moments, 'call_1', () => execFileSync('touch', ['-d', '1960-01-01', join(workspace, 'old')]));
    const then = snapshot(workspace);
    await doing(moments, 'call_2', () => rmSync(join(workspace, 'old')));
    await back(moments, 'call_1');
    expect(snapshot(workspace)).toEqual(then);
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
    const killed = open();
    await doing(killed, 'call_1', () => writeFileSync(join(workspace, 'file'), 'one'));
    await killed.enter(thread, { run: 'run_1', call: 'call_2', labels: {} }); // its executor is killed

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

  it('drops the oldest states of a workspace for newer ones, and says so', async () => {
    const moments = open({ maxBytes: mebibyte });
    const write = (call: number) =>
      doing(moments, `call_${call}`, () => {
        writeFileSync(join(workspace, 'stays'), Buffer.alloc(200_000, 255));
        writeFileSync(join(workspace, 'changes'), Buffer.alloc(300_000, call));
      });
    for (let call = 1; call <= 9; call += 1) {
      await write(call);
      await moments.find(thread, []);
      expect(measureStore()).toBeLessThan(mebibyte);
    }

    const refused = /^It is not kept any more: newer states of the files took its place \(SANDBOX_REWIND_MB\)/;
    await expect(moments.find(thread, ['run_1', 'call_1'])).resolves.toEqual({
      moment: null,
      refused: expect.stringMatching(refused) as string,
    });
    await expect(moments.preview(thread, 'call_1', {})).rejects.toThrow(refused);
    await expect(back(moments, 'call_1')).rejects.toThrow(refused);
    await expect(back(open({ maxBytes: mebibyte }), 'call_1')).rejects.toThrow(refused);
    await back(moments, 'call_8');
    expect(readFileSync(join(workspace, 'changes')).equals(Buffer.alloc(300_000, 8))).toBe(true);
    expect(readFileSync(join(workspace, 'stays')).equals(Buffer.alloc(200_000, 255))).toBe(true);
  });

  it('keeps earlier states where a new one alone is too large', async () => {
    const moments = open({ maxBytes: mebibyte });
    await doing(moments, 'call_1', () => writeFileSync(join(workspace, 'file'), 'one'));
    await doing(moments, 'call_2', () => writeFileSync(join(workspace, 'large'), Buffer.alloc(2 * mebibyte, 1)));
    await expect(moments.find(thread, ['call_2'])).resolves.toMatchObject({ moment: null });
    rmSync(join(workspace, 'large'));

    await expect(moments.find(thread, ['call_1'])).resolves.toMatchObject({ moment: 'call_1' });
    expect(measureStore()).toBeLessThan(5_000);
  });

  it('drops the oldest states of all workspaces of an account, also of earlier executors, and of no other account', async () => {
    const fill = async (moments: Moments, of: string, account = 'acc_1') => {
      const end = await moments.enter(of, { run: 'run_1', call: 'call_1', labels: { account } });
      writeFileSync(join(home, of, 'file'), Buffer.alloc(400_000, of));
      end();
      await moments.close();
    };
    const isKept = async (moments: Moments, of: string) => (await moments.find(of, ['call_1'])).moment !== null;
    ['thr_2', 'thr_3', 'thr_4'].forEach((of) => mkdirSync(join(home, of)));
    await fill(open({ accountBytes: mebibyte }), 'thr_4', 'acc_2');
    await fill(open({ accountBytes: mebibyte }), 'thr_2');
    const moments = open({ accountBytes: mebibyte });
    await fill(moments, 'thr_3');
    await doing(moments, 'call_1', () => writeFileSync(join(workspace, 'file'), Buffer.alloc(500_000, 1)));
    await moments.close();

    await expect(moments.find('thr_2', ['call_1'])).resolves.toEqual({
      moment: null,
      refused: expect.stringContaining('SANDBOX_REWIND_ACCOUNT_MB') as string,
    });
    await expect(Promise.all([thread, 'thr_3', 'thr_4'].map((of) => isKept(moments, of)))).resolves.toEqual([
      true,
      true,
      true,
    ]);
    expect(measureStore('thr_2')).toBe(0);
    const { used, limit } = await moments.measure('acc_1');
    expect([used > 900_000, used <= mebibyte, limit]).toEqual([true, true, mebibyte]);
    await expect(open({ accountBytes: mebibyte }).measure('acc_1')).resolves.toEqual({ used, limit });
    await expect(moments.measure('acc_3')).resolves.toEqual({ used: 0, limit: mebibyte });
  });

  it('does not begin a return while a call is at work', async () => {
    const moments = open();
    await doing(moments, 'call_1', () => undefined);
    await moments.enter(thread, { run: 'run_1', call: 'call_2', labels: {} });
    await expect(back(moments, 'call_1')).rejects.toMatchObject({ code: 'unavailable' });
  });

  describe('killed in the middle', () => {
    let built: CompiledExecutor;
    beforeAll(async () => {
      built = await CompiledExecutor.build();
    });
    afterAll(() => built.remove());

    /** Runs it in a process of its own, with `moments` and `doing`, and kills that so long after its first output. */
    async function kill(program: string, afterMs: number): Promise<void> {
      const child = built.start(`
        const { mkdirSync, writeFileSync } = require('node:fs');
        const { Moments } = require(built + '/sandboxes/host/moments/moments');
        const log = { info() {}, warn() {} };
        const nothing = async () => {};
        const workspace = ${JSON.stringify(workspace)};
        const moments = new Moments({
          root: ${JSON.stringify(home)}, maxBytes: 3e7, accountBytes: 1e9, maxEntries: 1e5, log,
          putToSleep: nothing, requireSpace: nothing,
          openRoot: async (id) => {
            const root = id === 'thr_1' ? workspace : ${JSON.stringify(home)} + '/' + id;
            mkdirSync(root, { recursive: true });
            return root;
          },
        });
        const doing = async (call, change) => {
          const end = await moments.enter('thr_1', { run: 'run_1', call, labels: { account: 'acc_1' } });
          await change();
          end();
          await moments.find('thr_1', []);
        };
        (async () => {
          ${program}
        })();`);
      const exited = once(child, 'exit');
      await firstOutput(child);
      await delay(afterMs); // each round dies somewhere else
      child.kill('SIGKILL');
      expect(await exited).toEqual([null, 'SIGKILL']);
    }

    it('completes a return when it is repeated', async () => {
      const moments = open();
      for (const call of ['one', 'two'])
        await doing(moments, call, () => {
          for (let file = 0; file < 300; file += 1)
            writeFileSync(join(workspace, `${file}`), `${call} ${file}`.repeat(2_000));
        });
      await moments.find(thread, []);
      for (let round = 0; round < 6; round += 1) {
        await kill(
          `console.log('begins');
          for (let n = 0; ; n += 1)
            await moments.bringBack('thr_1', { of: 'thr_1', moment: n % 2 ? 'one' : 'two', run: 'run_${round}_' + n, labels: {} });`,
          30 + round * 60,
        );

        await back(open(), round % 2 ? 'one' : 'two', `run_${round}`);
        expect(readdirSync(workspace)).toHaveLength(300);
        expect(readFileSync(join(workspace, '7'), 'utf8')).toMatch(round % 2 ? /^one 7/ : /^two 7/);
      }
    });

    it('fills a fork when it is repeated', async () => {
      const moments = open();
      await doing(moments, 'one', () => {
        for (let file = 0; file < 300; file += 1) writeFileSync(join(workspace, `${file}`), `${file}`.repeat(5_000));
      });
      await moments.find(thread, []);
      const then = snapshot(workspace);
      for (let round = 0; round < 5; round += 1) {
        const fork = `thr_${round + 10}`;
        const order = { of: thread, moment: 'one', run: `run_${round}`, labels: {} };
        await kill(
          `console.log('begins');
          await moments.bringBack('${fork}', ${JSON.stringify(order)});
          setInterval(() => {}, 1_000); // to be killed`,
          round * 25,
        );

        await open().bringBack(fork, order);
        expect(snapshot(join(home, fork))).toEqual(then);
      }
    });

    it('keeps whole states or none, and nothing that belongs to none', async () => {
      for (let round = 0; round < 10; round += 1) {
        // States take the place of older ones soon, so that some rounds die while those are dropped.
        await kill(
          `for (let n = 0; ; n += 1, console.log('kept'))
            await doing('call_${round}_' + n, () => {
              for (let file = 0; file < 60; file += 1)
                writeFileSync(workspace + '/' + file, (${round} + ' ' + n + ' ' + file + ' ').repeat(4_000 + file));
            });`,
          round * 35,
        );

        const moments = open({ maxBytes: 3e7 });
        const store = new MomentStore(join(home, '.moments', thread), Infinity);
        const keys = new Set(store.readRecords().map(({ key }) => key));
        let newest = 'none';
        for (const key of keys) {
          const { moment, refused } = await moments.find(thread, [key]);
          if (moment === null) expect(refused).toMatch(/^(The executor ended before|It is not kept any more)/);
          else if (key.startsWith('call_')) newest = key;
        }
        expect(measureStore()).toBe(measureStates(store));
        await back(moments, newest, `run_${round}`);
        const words = newest.replace('call_', '').replace('_', ' ');
        for (let file = 0; file < 60; file += 1)
          expect(readFileSync(join(workspace, `${file}`), 'utf8')).toBe(`${words} ${file} `.repeat(4_000 + file));
      }
    });
  });
});
