'use strict';
const fs = require('node:fs/promises');
const { constants } = require('node:fs');
const { randomUUID } = require('node:crypto');
const { dirname, join, resolve, relative } = require('node:path');
const { Failure } = require('./failure.cjs');

const full =
  'The workspace is full: it has no space left, or no room for another file. Delete files with delete_file, then try again.';

/**
 * File operations. They run inside the sandbox, so that every path a link can lead to belongs to the sandbox. Paths are
 * absolute. `realRoot` is set only without isolation: then links that lead out of the workspace are refused, as far as that
 * is possible.
 */
class Files {
  constructor({ realRoot }) {
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

  /** Writes a draft beside the target and then moves it, so that no reader sees half a file. */
  async write({ path, content, mode, permissions }) {
    const file = { path, mode, draft: randomUUID() };
    await this.append({ ...file, content });
    return this.finish({ ...file, permissions });
  }

  /** A part of a file that comes in several: the draft grows, the target stays as it is. */
  async append({ path, draft, content, mode }) {
    const { target } = await this.#replaceable(path, mode);
    const part = toDraftPath(target, draft);
    try {
      await fs.appendFile(part, Buffer.from(content, 'base64'), {
        flag: constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW,
      });
    } catch (error) {
      await fs.rm(part, { force: true });
      throw error.code === 'ENOSPC' ? new Failure('failed', full) : error;
    }
    return {};
  }

  /** The draft becomes the file. */
  async finish({ path, draft, mode, permissions }) {
    const { target, existing } = await this.#replaceable(path, mode);
    const part = toDraftPath(target, draft);
    try {
      await fs.chmod(part, permissions ?? (existing ? existing.mode & 0o7777 : 0o644));
      await (mode === 'create' ? fs.link(part, target) : fs.rename(part, target));
    } finally {
      await fs.rm(part, { force: true });
    }
    return {};
  }

  async discard({ path, draft, mode }) {
    const { target } = await this.#replaceable(path, mode);
    await fs.rm(toDraftPath(target, draft), { force: true });
    return {};
  }

  async delete({ path, recursive }) {
    await this.#existing(dirname(path));
    const status = await fs.lstat(path);
    if (status.isDirectory() && !recursive) throw new Failure('not_a_file', `${path} is a directory.`);
    await fs.rm(path, { recursive: recursive === true });
    return {};
  }

  async list({ path, depth, exclude, maxEntries }) {
    const root = await this.#existing(path);
    const entries = [];
    const queue = [{ directory: root, level: 1 }];
    for (let next = queue.shift(); next; next = queue.shift()) {
      for await (const item of await this.#open(next)) {
        if (entries.length >= maxEntries) return { entries, truncated: true };
        const found = join(next.directory, item.name);
        const status = await fs.lstat(found).catch(() => undefined);
        if (!status) continue;
        entries.push({ path: relative(root, found), kind: toKind(status), size: status.size });
        if (status.isDirectory() && next.level < depth && !exclude.includes(item.name)) {
          queue.push({ directory: found, level: next.level + 1 });
        }
      }
    }
    return { entries, truncated: false };
  }

  /** The entries of a directory. One below the root may be gone since it was found: then it has none. */
  async #open({ directory, level }) {
    try {
      return await fs.opendir(directory);
    } catch (error) {
      if (level > 1 && ['ENOENT', 'ENOTDIR'].includes(error.code)) return [];
      throw error;
    }
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
    await fs.mkdir(dirname(path), { recursive: true });
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
    const real = await fs.realpath(path);
    const inside = !this.realRoot || resolve(real) === this.realRoot || real.startsWith(`${this.realRoot}/`);
    if (!inside) throw new Failure('invalid_path', `${path} leads out of the workspace.`);
    return real;
  }
}

const toDraftPath = (target, draft) => join(dirname(target), `.${draft}.part`);

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
