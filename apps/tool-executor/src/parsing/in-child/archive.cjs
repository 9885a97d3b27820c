'use strict';
const yauzl = require('yauzl');
const { Refusal } = require('./refusal.cjs');

const mostEntries = 10_000;
const mostBytes = 200 * 1024 * 1024;

/**
 * The names of a zip archive's entries, after all of them have been decompressed once to count their real size: the size
 * that an archive declares is a claim, and what reads it afterwards believes it.
 */
async function checkedNames(bytes) {
  const names = [];
  let left = mostBytes;
  await eachEntry(bytes, async (archive, entry) => {
    if (names.length >= mostEntries) throw new Refusal(`it has more than ${mostEntries} parts`);
    if (entry.generalPurposeBitFlag & 1) throw new Refusal('it is encrypted');
    names.push(entry.fileName);
    if (entry.fileName.endsWith('/')) return;
    for await (const chunk of await opened(archive, entry)) {
      left -= chunk.length;
      if (left < 0) throw new Refusal(`it is larger than ${mostBytes / 1024 / 1024} MiB when it is decompressed`);
    }
  });
  return names;
}

/** The text of the entries whose name fits, by name. Only for an archive that was checked. */
async function textsIn(bytes, pattern) {
  const texts = new Map();
  await eachEntry(bytes, async (archive, entry) => {
    if (!pattern.test(entry.fileName)) return;
    const chunks = [];
    for await (const chunk of await opened(archive, entry)) chunks.push(chunk);
    texts.set(entry.fileName, Buffer.concat(chunks).toString());
  });
  return texts;
}

function eachEntry(bytes, visit) {
  return new Promise((resolve, reject) => {
    yauzl.fromBuffer(bytes, { lazyEntries: true }, (error, archive) => {
      if (error) return reject(error);
      archive.on('error', reject);
      archive.on('end', resolve);
      archive.on('entry', (entry) => visit(archive, entry).then(() => archive.readEntry(), reject));
      archive.readEntry();
    });
  });
}

const opened = (archive, entry) =>
  new Promise((resolve, reject) =>
    archive.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream))),
  );

module.exports = { checkedNames, textsIn };
