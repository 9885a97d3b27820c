import { z } from 'zod';

const longest = 256;

/**
 * A person for whom an account runs threads, as the account names them: up to 256 characters, none of which is a control
 * character. It stands in paths, so it is not a dot or two.
 */
export const endUser = z
  .string()
  .max(longest)
  .regex(/^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]+$/u, 'must be a name or an id without control characters, and not . or ..')
  .brand<'EndUser'>();
export type EndUser = z.infer<typeof endUser>;

interface NamedUser {
  readonly user?: EndUser | null | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The user of something new: the one that is named, else `metadata.user` where that can be one. */
export const readUser = ({ user, metadata }: NamedUser): EndUser | undefined =>
  user ?? endUser.safeParse(metadata?.['user']).data;
