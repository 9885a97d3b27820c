import { z } from 'zod';
import { whyNotPlain } from './plain-name';
import { type SecretPolicy, isAllowedTarget, secretName } from './secret';
import { skillDescription, skillName } from './skill';

const label = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';

/** `api.example.com`, or `*.example.com` for every name below it, on any port. */
const egressHost = z
  .string()
  .max(253)
  .regex(new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`), 'must be a host such as `example.com` or `*.example.com`')
  .toLowerCase();

/** Whether one of the hosts of a list is this one, which is in lower case. */
export const isListedHost = (hosts: readonly string[], hostname: string): boolean =>
  hosts.some((host) => (host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host));

/** Nothing in it needs quotes, and it carries no user, password, query or fragment. */
const plainUrl = /^https?:\/\/[A-Za-z0-9.-]+(?::\d{1,5})?(?:\/[A-Za-z0-9._~%+-]+)+\/?$/;
/** A branch, a tag, or the id of a commit; never an option, a range or an expression. */
const plainRef = /^(?![-./])(?!.*(?:\.\.|\/\/|\.lock$|[./]$))[A-Za-z0-9._/+-]+$/;

const ownFolders = ['.git', '.rondo-clone'];

const place = z
  .string()
  .overwrite((path) => path.replace(/^\/workspace\//, ''))
  .superRefine((path, context) => {
    const problem = whyNotPlain(path, { pathBytes: 240, depth: 12 });
    if (problem !== undefined) context.addIssue({ code: 'custom', message: `${problem}: it is a path in /workspace` });
    else if (path.split('/').some((part) => ownFolders.includes(part.toLowerCase())))
      context.addIssue({ code: 'custom', message: 'leads into a folder of git or of Rondo' });
  });

const repository = z.strictObject({
  url: z
    .string()
    .max(1_000)
    .regex(plainUrl, 'must be https://host/path, without a user, a password or a query')
    .refine((url) => URL.canParse(url), 'is no URL'),
  ref: z
    .string()
    .max(200)
    .regex(plainRef, 'must be a branch, a tag or the id of a commit')
    .optional()
    .describe('A branch, a tag or the id of a commit. Absent: the default branch.'),
  secret: secretName.optional().describe('With the placement `basic`. The sandbox may use and not read it.'),
  path: place.optional().describe('Its folder in /workspace. Absent: the last part of the URL.'),
});
export type EnvironmentRepository = z.infer<typeof repository>;

/** Why git cannot ask for a repository at this URL with a secret. Undefined: it can. */
export function whyNotForRepository(url: string, secret: SecretPolicy): string | undefined {
  const { hostname, host, port, protocol } = new URL(url);
  const isPlain = protocol === 'http:';
  const target = {
    hostname,
    port: Number(port || (isPlain ? 80 : 443)),
    protocol: isPlain ? 'http:' : 'https:',
  } as const;
  if (secret.placement.in !== 'basic') return 'its placement must be `basic`';
  if (!isAllowedTarget(secret.allowed_hosts, target))
    return `its \`allowed_hosts\` must name ${isPlain ? 'http://' : ''}${host}`;
  if (!secret.methods.includes('GET') || !secret.methods.includes('POST'))
    return 'its `methods` must have GET and POST';
  return undefined;
}

const fileLimits = { characters: 32_000, together: 64_000, files: 20 };

const files = z
  .array(z.strictObject({ path: place, content: z.string().max(fileLimits.characters) }))
  .max(fileLimits.files)
  .refine((list) => new Set(list.map(({ path }) => path)).size === list.length, 'names a path twice')
  .refine(
    (list) => list.reduce((sum, { content }) => sum + content.length, 0) <= fileLimits.together,
    `must have at most ${fileLimits.together} characters together`,
  );

/** The folder of a repository in /workspace. */
export function repositoryPath({ url, path }: Pick<EnvironmentRepository, 'url' | 'path'>): string {
  if (path !== undefined) return path;
  const last = new URL(url).pathname.split('/').findLast(Boolean) ?? '';
  const name = last.replace(/\.git$/i, '');
  return place.safeParse(name).success ? name : 'repository';
}

const nameParts = String.raw`[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`;
/** A registry with a dot, a port or the name `localhost`; a path; a tag; a digest. Never the id of an image. */
const reference = new RegExp(
  String.raw`^(?:${label}(?:\.${label})*(?::\d{1,5})?/)?${nameParts}(?:/${nameParts})*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
);

const image = z
  .string()
  .max(400)
  .regex(reference, 'must be the reference of an image, such as `python:3.12` or `ghcr.io/you/image@sha256:…`');

const createPinnedSchema = (pattern: RegExp, form: string) =>
  z
    .array(z.string().max(200).regex(pattern, `must be ${form}, with one version and no option`))
    .min(1)
    .max(50)
    .refine((list) => new Set(list).size === list.length, 'names a package twice')
    .optional();

const packageLists = {
  // The last character is none of those with which apt removes a package instead.
  apt: createPinnedSchema(/^[a-z0-9][a-z0-9+.-]+=[A-Za-z0-9](?:[A-Za-z0-9.+:~-]*[A-Za-z0-9.~])?$/, '`name=version`'),
  pip: createPinnedSchema(
    /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?==[A-Za-z0-9][A-Za-z0-9.!+_-]*$/,
    '`name==version`',
  ),
  npm: createPinnedSchema(
    /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*@\d+\.\d+\.\d+(?:[-+][A-Za-z0-9.+-]+)?$/,
    '`name@version`',
  ),
};

const packages = z
  .strictObject(packageLists)
  .refine((given) => Object.values(given).some((one) => one !== undefined), 'names no package');
export type EnvironmentPackages = z.infer<typeof packages>;

const sizeLimits = {
  cpus: z.number().min(0.1).max(1_000).optional().describe('Processor cores that it may use at once.'),
  memory_mb: z.number().int().min(128).max(10_485_760).optional(),
  disk_mb: z.number().int().min(16).max(10_485_760).optional().describe('Of the whole workspace.'),
};

const size = z
  .strictObject(sizeLimits)
  .refine((given) => Object.values(given).some((one) => one !== undefined), 'names no limit');
export type SandboxSize = z.infer<typeof size>;

/** Why no sandbox of a deployment can be held to so much, given the most of it there and what it must be a multiple of. Undefined: one can. */
export function whyNotForSandbox(asked: number, most: number | undefined, step?: number): string | undefined {
  if (most === undefined) return 'is not limited here';
  if (asked > most) return `must be at most ${most} on this deployment`;
  if (step === undefined || asked % step === 0) return undefined;
  return `must be ${step === 1 ? 'a whole number' : `a multiple of ${step}`} on this deployment`;
}

/** What the workspace of a run has and may reach. */
export const environment = z
  .strictObject({
    repository: repository.optional().describe('Is cloned into the workspace, before the run begins.'),
    files: files.optional().describe('Texts that the workspace has from its beginning. What is there already stays.'),
    egress: z
      .array(egressHost)
      .max(100)
      .optional()
      .describe('The only hosts that the sandbox reaches, of those that the deployment allows. `[]`: none.'),
    image: image
      .optional()
      .describe('What the sandbox is made from, of those that the deployment allows. Absent: its own.'),
    packages: packages.optional().describe('Are installed once, into a layer on the image that later sandboxes share.'),
    size: size.optional().describe('What the sandbox may use, of what the deployment gives it. Absent: all of that.'),
  })
  .superRefine(({ repository: cloned, egress }, context) => {
    const host = cloned && URL.canParse(cloned.url) ? new URL(cloned.url).hostname : undefined;
    if (host === undefined || !egress || isListedHost(egress, host)) return;
    context.addIssue({
      code: 'custom',
      path: ['egress'],
      message: `must name ${host}, which the repository comes from`,
    });
  });
export type Environment = z.infer<typeof environment>;

/** What holds for a sandbox while calls of a run use it. Services send it to each other, so no unknown field is refused. */
export const sandboxTerms = z.object({
  egress: z.array(z.string()).exactOptional(),
  size: z.object(sizeLimits).exactOptional(),
  image: image.exactOptional(),
  packages: z.object(packageLists).exactOptional(),
});
export type SandboxTerms = z.infer<typeof sandboxTerms>;

/** Undefined where the environment asks nothing of it. */
export function toSandboxTerms({ egress, size: limits, image: from, packages: installed }: Environment = {}):
  SandboxTerms | undefined {
  const terms = {
    ...(egress && { egress }),
    ...(limits && { size: limits }),
    ...(from !== undefined && { image: from }),
    ...(installed && { packages: installed }),
  };
  return Object.keys(terms).length > 0 ? terms : undefined;
}

/** The repository that a workspace has. */
const placedRepository = z.object({
  path: z.string(),
  ref: z.string().nullable(),
  commit: z.string(),
  /** It was cloned for this run. An earlier run of the workspace may have changed what was there already. */
  is_new: z.boolean(),
});

/** What a run has its workspace and its sandbox get, before that is done. */
export const workspacePreparing = sandboxTerms.extend({
  repository: placedRepository.pick({ path: true, ref: true }).nullable(),
  files: z.array(z.string()),
  egress: z.array(z.string()).nullable(),
});
export type WorkspacePreparing = z.infer<typeof workspacePreparing>;

/** A skill in a folder of a repository. Its description is the text of a stranger. */
export const workspaceSkill = z.object({
  name: skillName,
  description: skillDescription,
  path: z.string().describe('Of its folder in /workspace.'),
});
export type WorkspaceSkill = z.infer<typeof workspaceSkill>;

/** What a workspace got. A file that was there already was left as it is. */
export const workspacePrepared = z.object({
  repository: placedRepository.nullable(),
  files: z.array(z.object({ path: z.string(), is_new: z.boolean() })),
  /** Those of the repository, as it was then. */
  skills: z.array(workspaceSkill),
  duration_ms: z.number().nonnegative(),
});
export type WorkspacePrepared = z.infer<typeof workspacePrepared>;
