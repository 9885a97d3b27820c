'use strict';
const fs = require('node:fs/promises');
const { constants } = require('node:fs');
const { randomUUID } = require('node:crypto');
const { dirname, join, resolve, relative } = require('node:path');
const { Failure } = require('./failure.cjs');

const full =
  'The workspace is full: it has no space left, or no room for another file. Delete files with delete_file, then try again.';

const slash = Buffer.from('/');
/** Of the entries of a list. It travels in one message, and NATS takes a mebibyte unless it is told otherwise. */
const mostListedBytes = 768 * 1024;

/**
 * File operations. They run inside the sandbox, so that every path a link can lead to belongs to the sandbox. Paths are
 * absolute. `realRoot` is set only without isolation: then links that lead out of the workspace are refused, as far as that
 * is possible.
 */
class Files {
  /** The paths of drafts that are being written, by their ids. */
  #drafts = new Map();

  constructor({ workspace, realRoot }) {
    this.workspace = workspace;
    this.realRoot = realRoot;
  }

  async read({ path, offset, length, maxBytes }) {
    const file = await fs.open(await this.#existing(path), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size, dev, ino } = await regular(file, path);
      if (length === undefined && size > maxBytes) throw tooLarge(path, size, maxBytes);
      const wanted = Buffer.alloc(Math.min(length ?? maxBytes, maxBytes, Math.max(size - (offset ?? 0), 0)));
      let filled = 0;
      while (filled < wanted.length) {
        const { bytesRead } = await file.read(wanted, filled, wanted.length - filled, (offset ?? 0) + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return { content: wanted.subarray(0, filled).toString('base64'), size, identity: `${dev} ${ino}` };
    } finally {
      await file.close();
    }
  }

  /** Writes a draft and then moves it, so that no reader sees half a file. */
  async write({ path, content, mode, permissions }) {
    const file = { path, mode, draft: randomUUID() };
    await this.append({ ...file, content });
    return this.finish({ ...file, permissions });
  }

  /** A part of a file that comes in several, behind so many bytes: the draft grows, the target stays as it is. */
  async append({ path, draft, offset = 0, content, mode }) {
    try {
      const { target } = await this.#replaceable(path, mode);
      const part = offset > 0 ? this.#known(draft) : (this.#drafts.get(draft) ?? (await this.#newDraft(draft, target)));
      await fs.appendFile(part, Buffer.from(content, 'base64'), {
        flag: constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW,
      });
    } catch (error) {
      await this.discard({ draft });
      throw orFull(error);
    }
    return {};
  }

  /** The draft becomes the file. */
  async finish({ path, draft, mode, permissions }) {
    try {
      const { target, existing } = await this.#replaceable(path, mode);
      const part = this.#known(draft);
      await fs.chmod(part, permissions ?? (existing ? existing.mode & 0o7777 : 0o644));
      await (mode === 'create' ? fs.link(part, target) : fs.rename(part, target));
    } catch (error) {
      throw orFull(error);
    } finally {
      await this.discard({ draft });
    }
    return {};
  }

  async discard({ draft }) {
    const part = this.#drafts.get(draft);
    this.#drafts.delete(draft);
    if (part) await fs.rm(part, { force: true });
    return {};
  }

  /** Deletes the drafts that an agent has left which was killed, as far as it can. To be called before anything is written. */
  async sweep() {
    const names = await fs.readdir(this.workspace).catch(() => []);
    const drafts = names.filter((name) => draftName.test(name));
    await Promise.allSettled(drafts.map((name) => fs.rm(join(this.workspace, name))));
  }

  #known(draft) {
    const part = this.#drafts.get(draft);
    if (!part) throw new Failure('lost', 'The sandbox was started anew while the file was written.');
    return part;
  }

  /** In the workspace itself, where it is found after a kill, or beside its target where it cannot be moved from there. */
  async #newDraft(draft, target) {
    const [own, there] = await Promise.all([this.workspace, dirname(target)].map((path) => fs.stat(path)));
    const isOpen = await fs.access(this.workspace, constants.W_OK).then(
      () => true,
      () => false,
    );
    const part = toDraftPath(isOpen && own.dev === there.dev ? this.workspace : dirname(target), draft);
    this.#drafts.set(draft, part);
    return part;
  }

  async delete({ path, recursive }) {
    await this.#existing(dirname(path));
    const status = await fs.lstat(path).catch(orUnnameable(path));
    if (status.isDirectory() && !recursive) throw new Failure('not_a_file', `${path} is a directory.`);
    await fs.rm(path, { recursive: recursive === true });
    return {};
  }

  /** What is below a folder that may not be read is missing, and the entry of that folder says so. */
  async list({ path, depth, exclude, maxEntries }) {
    const root = await this.#existing(path);
    const entries = [];
    let bytes = 0;
    const queue = [{ directory: Buffer.from(root), level: 1 }];
    for (let folder = queue.shift(); folder; folder = queue.shift()) {
      for await (const { name } of await openFolder(folder)) {
        const found = Buffer.concat([folder.directory, slash, name]);
        const status = await fs.lstat(found).catch((error) => passOver(error, folder));
        if (!status) continue;
        const entry = { path: relative(root, found.toString()), kind: toKind(status), size: status.size };
        bytes += Buffer.byteLength(JSON.stringify(entry));
        if (entries.length >= maxEntries || bytes > mostListedBytes) return { entries, truncated: true };
        entries.push(entry);
        if (status.isDirectory() && folder.level < depth && !exclude.includes(name.toString())) {
          queue.push({ directory: found, level: folder.level + 1, entry });
        }
      }
    }
    return { entries, truncated: false };
  }

  async stat({ path }) {
    const status = await fs.lstat(path).catch((error) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    });
    if (!status) return { found: false };
    const { size, mode, mtime } = status;
    return { found: true, kind: toKind(status), size, permissions: mode & 0o7777, modifiedAt: mtime.toISOString() };
  }

  /** The file to write: the target of an existing link, or a new file whose parents are created. */
  async #target(path, mode) {
    if (mode === 'replace') return this.#existing(path);
    const found = await fs.realpath(path).catch(() => undefined);
    if (found) return this.#existing(found);
    await fs.mkdir(dirname(path), { recursive: true }).catch((error) => {
      throw error.code === 'EEXIST' ? new Failure('not_a_directory', `${dirname(path)} is not a directory.`) : error;
    });
    await this.#existing(dirname(path));
    return path;
  }

  async #replaceable(path, mode) {
    const target = await this.#target(path, mode);
    const existing = await fs.stat(target).catch(() => undefined);
    if (mode === 'create' && existing) throw new Failure('already_exists', `${path} exists already.`);
    if (existing && !existing.isFile()) throw new Failure('not_a_file', `${path} is not a file.`);
    return { target, existing };
  }

  async #existing(path) {
    const real = await fs.realpath(path).catch(orUnnameable(path));
    const inside = !this.realRoot || resolve(real) === this.realRoot || real.startsWith(`${this.realRoot}/`);
    if (!inside) throw new Failure('invalid_path', `${path} leads out of the workspace.`);
    return real;
  }
}

/** The entries of a folder, with the bytes of their names. One below that which was asked for may be gone since it was found. */
async function openFolder(folder) {
  try {
    return await fs.opendir(folder.directory, { encoding: 'buffer' });
  } catch (error) {
    if (!folder.entry) throw error;
    passOver(error, folder);
    return [];
  }
}

function passOver(error, { entry }) {
  if (['ENOENT', 'ENOTDIR'].includes(error.code)) return;
  if (!entry) throw error;
  entry.unreadable = true;
}

/** A list shows bytes that are no UTF-8 as U+FFFD, and a request with that names another file, or none. */
const orUnnameable = (path) => (error) => {
  if (error.code !== 'ENOENT' || !path.includes('\ufffd')) throw error;
  throw new Failure(
    'invalid_path',
    `There is no ${path}, or bytes of its name are no UTF-8: then rename it with a command, for example mv with a pattern.`,
  );
};

const draftName = /^\.rondo-[0-9a-f-]{36}\.part$/;
const toDraftPath = (folder, draft) => join(folder, `.rondo-${draft}.part`);

/** What a model or a person is told of an error about a file that is written. */
const orFull = (error) => (['ENOSPC', 'EDQUOT'].includes(error.code) ? new Failure('failed', full) : error);

async function regular(file, path) {
  const status = await file.stat();
  if (!status.isFile()) throw new Failure('not_a_file', `${path} is not a file.`);
  return status;
}

function tooLarge(path, size, maxBytes) {
  return new Failure('too_large', `${path} has ${size} bytes; the limit is ${maxBytes}.`);
}

function toKind(status) {
  if (status.isFile()) return 'file';
  if (status.isDirectory()) return 'directory';
  return status.isSymbolicLink() ? 'link' : 'other';
}

module.exports = { Files };
