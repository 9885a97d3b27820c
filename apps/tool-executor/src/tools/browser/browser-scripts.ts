import { dirname } from 'node:path';
import { shellQuoted } from '../shell/tool-commands';

export const missing = 'missing\n';
export const errorsFile = '/tmp/browser/errors';
export const startedEvent = 'Rondo.started';

const flags = [
  '--headless',
  '--no-sandbox', // The sandbox around it has no privileges to give to one of its own.
  '--disable-gpu',
  '--disable-dev-shm-usage',
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
  // Without a cache of pages each Chromium loads a page anew when it is gone back to; the headless shell has none.
  '--disable-features=IsolateOrigins,site-per-process,Translate,MediaRouter,OptimizationHints,BackForwardCache',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

/**
 * The sandbox's variables name its proxy. `<-loopback>` makes link-local addresses take the proxy too, which refuses them.
 */
const prepare = (program: string) => `
export HOME=/tmp/browser
mkdir -p "$HOME"
[ -x ${shellQuoted(program)} ] || { echo missing; exit; }
proxy=()
if [ -n "$HTTP_PROXY" ]; then
  direct=",$NO_PROXY,"
  direct=\${direct/,::1,/,[::1],}
  proxy=("--proxy-server=$HTTP_PROXY" "--proxy-bypass-list=<-loopback>\${direct//,/;}")
fi
browser=(${shellQuoted(program)} ${flags.map(shellQuoted).join(' ')} "\${proxy[@]}" --user-data-dir="$HOME/profile")`;

/** Starts the browser in a session of its own, waits for the line that says where it listens, and leaves it running. */
export const listeningScript = (program: string) => `${prepare(program)}
exec 3< <(exec setsid "\${browser[@]}" --remote-debugging-port=0 about:blank 2>&1 >/dev/null </dev/null)
pid=$!
last=
while read -r line <&3; do
  case $line in
    'DevTools listening on ws://127.0.0.1:'*) printf 'ready %s %s\\n' "$pid" "\${line#*127.0.0.1:}"; (setsid cat <&3 >/dev/null 2>&1 &); exit ;;
    ?*) last=$line ;;
  esac
done
printf 'failed %s\\n' "\${last:0:500}"`;

/**
 * Becomes the browser, which speaks over the script's own input and output. First an event of ours, in the form of the browser's,
 * says which process it is. The script must lead a process group.
 */
export const writeAttachedScript = (program: string) => `mkdir -p ${dirname(errorsFile)}
exec 3<&0 4>&1 </dev/null >${errorsFile} 2>&1${prepare(program)}
printf '{"method":"${startedEvent}","params":{"pid":%s}}\\0' "$$" >&4
exec "\${browser[@]}" --remote-debugging-pipe about:blank`;
