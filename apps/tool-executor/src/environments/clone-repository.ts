import {
  type AccountId,
  type EnvironmentRepository,
  type RunId,
  type WorkspacePrepared,
  repositoryPath,
  whyNotForRepository,
} from '@rondo/contract';
import { OutboundRefusal, newUlid } from '@rondo/platform';
import { type EgressGate, type ReportStep, type Sandbox, SandboxError } from '../sandboxes';

export interface PreparingRun {
  readonly account: AccountId;
  readonly run: RunId;
  readonly egress: EgressGate;
  readonly signal: AbortSignal;
  readonly report?: ReportStep;
}

type PlacedRepository = NonNullable<WorkspacePrepared['repository']>;

const longestMs = 600_000;
const shownCharacters = 800;

/**
 * Clones a repository into a folder of the workspace, unless it is there already. It appears whole or not at all: a clone that was
 * broken off is removed by the next one. What says that the folder is this repository lies in it, so it lives and dies with it.
 */
export async function cloneRepository(
  sandbox: Sandbox,
  repository: EnvironmentRepository,
  run: PreparingRun,
): Promise<PlacedRepository> {
  await requireReachable(repository, run.egress);
  const credentials = await findCredentials(repository, run);
  const mark = `rondo-${newUlid()}`;
  const outcome = await sandbox.exec(
    {
      id: `env_${newUlid()}`,
      command: toScript(repository, { mark, credentials }),
      run: run.run,
      session: 'environment',
      cwd: '/workspace',
      timeoutMs: longestMs,
    },
    { signal: run.signal },
  );
  const { ending, output, detail } = outcome;
  if (ending === 'sandbox-lost' || ending === 'killed')
    throw new SandboxError('lost', 'The sandbox ended while the repository was cloned.');
  const said = new RegExp(`^${mark} (\\w+) ?([0-9a-f]*)$`, 'm').exec(output);
  const [, state = '', commit = ''] = said ?? [];
  const path = repositoryPath(repository);
  if (ending === 'exit' && (state === 'cloned' || state === 'kept'))
    return { path, ref: repository.ref ?? null, commit, is_new: state === 'cloned' };
  const reason = whyNot[state]?.(path) ?? `git: ${readEnd(output) || detail || ending}`;
  throw new SandboxError('failed', `The repository ${repository.url} is not in the workspace: ${reason}`);
}

const whyNot: Readonly<Record<string, (path: string) => string>> = {
  nogit: () => 'there is no git in the sandbox: it has to be installed where its programs come from.',
  taken: (path) =>
    `/workspace/${path} has something else already, or another ref of it. Begin a new thread, or give the repository another \`path\`.`,
};

const readEnd = (output: string): string => output.trim().slice(-shownCharacters);

/** Also where the provider does not check the network of commands. */
async function requireReachable({ url }: EnvironmentRepository, egress: EgressGate): Promise<void> {
  const { hostname, port, protocol } = new URL(url);
  try {
    await egress.admit({ hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) });
  } catch (error) {
    if (!(error instanceof OutboundRefusal)) throw error;
    throw new SandboxError('failed', `The repository ${url} cannot be reached: ${error.message}`);
  }
}

interface Credentials {
  readonly username: string;
  /** The variable in which commands of the run find the placeholder. */
  readonly variable: string;
}

async function findCredentials(
  { url, secret: name }: EnvironmentRepository,
  { account, run, egress }: PreparingRun,
): Promise<Credentials | undefined> {
  if (name === undefined) return undefined;
  const refuse = (reason: string, code: 'failed' | 'unsupported' = 'failed') =>
    new SandboxError(code, `The repository ${url} cannot be cloned with the secret ${name}: ${reason}`);
  if (!egress.secrets)
    throw refuse(
      'sandboxes here can use none: their provider is daytona, they are not isolated, or this executor has no SECRETS_KEY.',
      'unsupported',
    );
  const secret = (await egress.secrets.grant({ account, run, call: null })).find((one) => one.name === name);
  if (!secret) throw refuse('there is none of that name that the run may use.');
  const reason = whyNotForRepository(url, secret);
  if (reason !== undefined || secret.placement.in !== 'basic') throw refuse(`${reason}.`);
  return { username: secret.placement.username, variable: name };
}

const quoteWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** No text of the repository or its server decides what runs: hooks, templates, other transports and prompts are off. */
const gitSettings = ['core.hooksPath=/dev/null', 'init.templateDir=', 'gc.auto=0', 'maintenance.auto=false'];

function toScript(
  repository: EnvironmentRepository,
  { mark, credentials }: { readonly mark: string; readonly credentials: Credentials | undefined },
): string {
  const { url, ref = '' } = repository;
  const settings = gitSettings.map((one) => `-c ${quoteWord(one)}`).join(' ');
  const helper = credentials ? toHelper(credentials) : '';
  return `
set -eu
export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ALLOW_PROTOCOL=http:https GIT_LFS_SKIP_SMUDGE=1
url=${quoteWord(url)} ref=${quoteWord(ref)} place=${quoteWord(`./${repositoryPath(repository)}`)} draft=./.rondo-clone helper=${quoteWord(helper)}
type -P git >/dev/null || { echo '${mark} nogit'; exit 1; }
git() { command git ${settings} "$@"; }
known=$(printf '%s\\n%s' "$url" "$ref")
if [ -e "$place" ] || [ -L "$place" ]; then
  [ "$(cat "$place/.git/rondo-environment" 2>/dev/null)" = "$known" ] || { echo '${mark} taken'; exit 1; }
  echo "${mark} kept $(git -C "$place" rev-parse HEAD)"
  exit 0
fi
rm -rf "$draft"
git -c credential.helper= -c credential.helper="$helper" clone --quiet --no-checkout -- "$url" "$draft"
git -C "$draft" checkout --quiet \${ref:+"$ref"} --
[ -z "$helper" ] || git -C "$draft" config credential.helper "$helper"
printf %s "$known" > "$draft/.git/rondo-environment"
commit=$(git -C "$draft" rev-parse HEAD)
mkdir -p "$(dirname "$place")"
mv -T "$draft" "$place"
echo "${mark} cloned $commit"
`;
}

/** Of the repository from then on, so that the run can push to it as far as the secret allows. It has the variable's name only. */
const toHelper = ({ username, variable }: Credentials): string =>
  `!f() { [ "$1" = get ] && printf 'username=%s\\npassword=%s\\n' ${quoteWord(username)} "$${variable}"; }; f`;
