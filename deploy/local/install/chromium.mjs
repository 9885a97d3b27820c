import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, trialLimitMs } from '../run-program.mjs';

/** Where distributions put it. The scripts in /usr/bin read settings of the system's users, so they are not used. */
const places = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/lib/chromium/chromium',
  '/usr/lib64/chromium-browser/headless_shell',
  '/opt/google/chrome/chrome',
];

/** Chromium, the browser of the sandboxes. It is a program, not a server. */
export const chromium = {
  name: 'chromium',
  variable: 'BROWSER_PATH',
  install: 'apt install chromium-headless-shell (without it there are no browser tools)',

  findLocal() {
    const file = places.find(existsSync);
    return file && { file };
  },

  async fromPackages(packages) {
    const name = 'chromium-headless-shell';
    const unpacked = await packages.unpack('chromium', {
      packages: [name, 'chromium-common', 'fonts-dejavu-core'],
      programs: [name],
    });
    const root = join(unpacked.programs[name], '../../..');
    return { file: writeWrapper(root, unpacked.env.LD_LIBRARY_PATH) };
  },

  /** Rejects if it does not start. */
  async tryOut(file) {
    await run(file, ['--version'], { env: {}, timeoutMs: trialLimitMs }).catch((error) => {
      throw new Error(`${file} does not run: ${error.stderr?.trim() || error.message}`);
    });
  },
};

/**
 * A script beside the unpacked files that makes Chromium find its libraries and fonts. All paths are relative to it, because
 * its directory has another name in sandboxes.
 */
function writeWrapper(root, libraryPath) {
  writeFileSync(join(root, 'fonts.conf'), fonts);
  const script = join(root, 'browser');
  const lines = [
    '#!/bin/sh',
    'here=$(dirname "$(readlink -f "$0")")',
    ...(libraryPath ? [`export LD_LIBRARY_PATH="${libraryPath.replaceAll(root, '$here')}"`] : []),
    '[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_FILE="$here/fonts.conf"',
    'exec "$here/usr/lib/chromium/chromium-headless-shell" "$@"',
  ];
  writeFileSync(script, `${lines.join('\n')}\n`);
  chmodSync(script, 0o755);
  return script;
}

const fonts = `<?xml version="1.0"?>
<fontconfig>
  <dir prefix="relative">usr/share/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>/tmp/browser/fonts</cachedir>
</fontconfig>
`;
