import type { NatsPermissions } from '../connection/permissions';

type Rights = Readonly<Record<string, Pick<NatsPermissions, 'publish' | 'subscribe'>>>;

/** The subjects that a service of the previous version may use and no longer could. Both versions share one user. */
export function lostRights(before: Rights, now: Rights): string[] {
  return Object.entries(before).flatMap(([service, rights]) =>
    (['publish', 'subscribe'] as const).flatMap((verb) => {
      const granted = now[service]?.[verb] ?? [];
      const lost = rights[verb].filter((subject) => !granted.some((wider) => covers(wider, subject)));
      return lost.map((subject) => `${service} may not ${verb} ${subject} any more: go on granting it for one version`);
    }),
  );
}

/** By NATS' wildcards: `*` is one part, and `>` all that follow. A queue group is written behind a space. */
export function covers(wider: string, subject: string): boolean {
  const [[parts, group], [others, othersGroup]] = [split(wider), split(subject)];
  if (group !== othersGroup) return false;
  const tail = parts.indexOf('>');
  const head = tail < 0 ? parts : parts.slice(0, tail);
  const isLongEnough = tail < 0 ? others.length === parts.length : others.length > tail;
  return isLongEnough && head.every((part, index) => part === others[index] || (part === '*' && others[index] !== '>'));
}

function split(text: string): [parts: string[], group: string] {
  const [subject = '', group = ''] = text.split(' ');
  return [subject.split('.'), group];
}
