import { type Command, type Context, type Given, UsageError } from '../command';
import { isOfThisMachine } from '../config';
import { ConsoleServer } from '../console/console-server';
import { openInBrowser } from '../console/open-in-browser';

const usualPort = 3080;
const highestPort = 65_535;

export const openConsole: Command = {
  name: 'console',
  summary: 'Open the console of a gateway in a browser, which never gets the key',
  options: [
    { name: 'gateway', value: 'URL', help: 'the same as --url' },
    { name: 'port', value: 'PORT', help: `where to listen on 127.0.0.1 (${usualPort}, or any if that is taken)` },
    { name: 'no-open', help: 'print the link and open no browser' },
  ],
  details:
    'It prints a link that signs one browser in, once. Enter prints another one, and Ctrl-C ends it all. The browser gets a cookie ' +
    'of this command and never the key. On a machine with other people use --no-open: they can see which address a browser is ' +
    'started with.',
  async run(given, context) {
    const { terminal, url, key } = context;
    const { account_id: account, scopes } = await context.rondo().sessions.current();
    const server = await startServer(given, { gateway: new URL(url), key: key() });
    const ended = awaitInterrupt();
    if (url.startsWith('http:') && !isOfThisMachine(url))
      terminal.note(`The key and everything else is sent to ${url} as plain text. Use https.`, 'yellow');
    terminal.note(`The console of ${url}, for ${account} (${scopes.join(', ')}). Enter: another link. Ctrl-C: end.`);
    const link = show(server, context);
    if (terminal.canAsk && !given.has('no-open')) openInBrowser(link);
    const stopListening = terminal.onLine(() => void show(server, context));
    await ended;
    stopListening();
    await server.close();
    return 'ok';
  },
};

async function startServer(
  given: Given,
  gateway: { readonly gateway: URL; readonly key: string },
): Promise<ConsoleServer> {
  const port = readPort(given.value('port'));
  try {
    return await ConsoleServer.start({ ...gateway, port: port ?? usualPort });
  } catch (error) {
    if (!isTaken(error)) throw error;
    if (port !== undefined) throw new UsageError(`Port ${port} is taken by another program. Choose another one.`);
    return ConsoleServer.start({ ...gateway, port: 0 });
  }
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > highestPort)
    throw new UsageError(`--port takes a number from 0 to ${highestPort}.`);
  return port;
}

const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

function show(server: ConsoleServer, { terminal, url }: Context): string {
  const link = server.newLink();
  if (terminal.isJson) terminal.json({ link, gateway: url });
  else terminal.line(link);
  return link;
}

const awaitInterrupt = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
