import { basename, dirname, join } from 'node:path';

const directory = '/opt/browser';
const ofThisHost = (): string => process.env['BROWSER_PATH'] ?? '/usr/bin/chromium';
const isShown = (): boolean => ofThisHost().startsWith('/usr/');

/** The programs of this host take the place of an image. Here is its browser. */
export const imageBrowser = (): string => (isShown() ? ofThisHost() : join(directory, basename(ofThisHost())));

/** Arguments of bubblewrap that show it there. */
export const imageBrowserMount = (): string[] => (isShown() ? [] : ['--ro-bind', dirname(ofThisHost()), directory]);
