'use strict';
const { readdirSync, readFileSync } = require('node:fs');

const everyMs = 250;
const pageBytes = 4096;

/** For hosts without control groups. Best effort: a process that allocates fast enough can exceed the limit. */
function watchMemory(maximumBytes, commands) {
  setInterval(() => {
    if (commands.size > 0 && residentBytes() > maximumBytes) commands.endAll('oom');
  }, everyMs).unref();
}

function residentBytes() {
  let pages = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      pages += Number(readFileSync(`/proc/${name}/statm`, 'utf8').split(' ')[1]);
    } catch {
      continue; // It has ended meanwhile.
    }
  }
  return pages * pageBytes;
}

module.exports = { watchMemory };
