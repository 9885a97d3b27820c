import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Sandbox, browserInSandbox } from '../../sandboxes';
import { privateSession } from '../files/private-session';
import { shellQuoted } from '../shell/shell-quoted';
import { BrowserProblem } from './browser-errors';

const startMs = 15_000;

const flags = [
  '--headless',
  '--no-sandbox', // The sandbox around it has no privileges to give to one of its own.
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--remote-debugging-port=0',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--disable-breakpad',
  '--password-store=basic',
  '--mute-audio',
  '--hide-scrollbars',
  '--window-size=1280,800',
  '--disk-cache-size=33554432',
  '--renderer-process-limit=4',
  '--disable-site-isolation-trials', // One process per site would need most of a sandbox's memory.
  '--disable-features=IsolateOrigins,site-per-process,Translate,MediaRouter,OptimizationHints',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

/**
 * Starts the browser in a session of its own, waits for the line that says where it listens, and leaves it running. The
 * sandbox's variables name its proxy. `<-loopback>` makes link-local addresses take the proxy too, which refuses them.
 */
const script = `
export HOME=/tmp/browser
mkdir -p "$HOME"
[ -x ${browserInSandbox} ] || { echo missing; exit; }
proxy=()
if [ -n "$HTTP_PROXY" ]; then
  direct=",$NO_PROXY,"
  direct=\${direct/,::1,/,[::1],}
  proxy=("--proxy-server=$HTTP_PROXY" "--proxy-bypass-list=<-loopback>\${direct//,/;}")
fi
exec 3< <(exec setsid ${browserInSandbox} ${flags.map(shellQuoted).join(' ')} "\${proxy[@]}" --user-data-dir="$HOME/profile" about:blank 2>&1 >/dev/null </dev/null)
pid=$!
last=
while read -r line <&3; do
  case $line in
    'DevTools listening on ws://127.0.0.1:'*) printf 'ready %s %s\\n' "$pid" "\${line#*127.0.0.1:}"; (setsid cat <&3 >/dev/null 2>&1 &); exit ;;
    ?*) last=$line ;;
  esac
done
printf 'failed %s\\n' "\${last:0:500}"`;

const ready = z
  .string()
  .regex(/^ready \d+ \d{1,5}\/\S+\n$/)
  .transform((line) => {
    const [, pid = '', address = ''] = line.trim().split(' ');
    const slash = address.indexOf('/');
    return { pid: Number(pid), port: Number(address.slice(0, slash)), path: address.slice(slash) };
  });

/** A browser that runs in a sandbox: its process, and where it listens on the loopback. */
export type BrowserProcess = z.infer<typeof ready>;

export async function launchBrowser(sandbox: Sandbox, run: string): Promise<BrowserProcess> {
  const id = `browser_${randomUUID()}`;
  const { output, ending } = await sandbox.exec({
    id,
    run,
    command: script,
    session: privateSession,
    timeoutMs: startMs,
  });
  if (output === 'missing\n')
    throw new BrowserProblem('There is no browser on this machine: its operator can set BROWSER_PATH.');
  const parsed = ready.safeParse(output);
  if (parsed.success) return parsed.data;
  const why = ending === 'exit' ? output.replace(/^failed /, '').trim() : ending;
  throw new BrowserProblem(`The browser could not be started: ${why.slice(0, 500) || 'it ended at once.'}`);
}

/** Kills it with all processes that it has started. Resolves when none of its process group is left. */
export async function killBrowser(sandbox: Sandbox, { pid }: BrowserProcess): Promise<void> {
  const command = `
line=$(tr -d '\\0' 2>/dev/null </proc/${pid}/cmdline)
case $line in '' | *remote-debugging-port*) ;; *) exit ;; esac # The number may be used again.
kill -KILL -- -${pid} 2>/dev/null
while kill -0 -- -${pid} 2>/dev/null; do sleep 0.02; done`;
  await sandbox.exec({ id: `browser_${randomUUID()}`, command, session: privateSession, timeoutMs: 5_000 });
}
