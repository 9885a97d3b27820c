import { type Command, UsageError } from '../command';
import { commonOptions } from '../parse-arguments';

type Commands = () => Promise<readonly Command[]>;

const toWords = (commands: readonly Command[]): string =>
  [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))].join(' ');

const toOptions = ({ options = [] }: Command): string =>
  [...options, ...commonOptions].map(({ name }) => `--${name}`).join(' ');

/** Second words, and the options of each command, by the words before them. */
function cases(commands: readonly Command[]): [pattern: string, words: string][] {
  const groups = new Map<string, string[]>();
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ');
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second]);
  }
  return [
    ...commands.map((command): [string, string] => [command.name, toOptions(command)]),
    ...[...groups].map(([first, seconds]): [string, string] => [first, seconds.join(' ')]),
  ];
}

const bash = (commands: readonly Command[]): string => `_rondo() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${toWords(commands)}" -- "$current")); return; fi
  case "$before" in
${cases(commands)
  .map(([pattern, words]) => `    "${pattern}"|"${pattern} "*) COMPREPLY=($(compgen -W "${words}" -- "$current")) ;;`)
  .join('\n')}
  esac
}
complete -o default -F _rondo rondo`;

const fish = (commands: readonly Command[]): string =>
  [
    `complete -c rondo -n __fish_use_subcommand -f -a "${toWords(commands)}"`,
    ...cases(commands).flatMap(([pattern, words]) => {
      const [first = ''] = pattern.split(' ');
      return words.split(' ').map((word) => {
        const offer = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
        return `complete -c rondo -n "__fish_seen_subcommand_from ${first}" ${offer}`;
      });
    }),
  ].join('\n');

const zsh = (commands: readonly Command[]): string => `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;

const shells = { bash, zsh, fish };

/** `all` is called late: the command is in the table itself. */
export const toCompletion = (all: Commands): Command => ({
  name: 'completion',
  summary: 'Print the completion for a shell',
  args: [{ name: 'SHELL' }],
  details: 'SHELL is bash, zsh or fish. For bash: `source <(rondo completion bash)`.',
  async run(given, { terminal }) {
    const [shell = ''] = given.args;
    if (shell !== 'bash' && shell !== 'zsh' && shell !== 'fish') throw new UsageError('SHELL is bash, zsh or fish.');
    terminal.line(shells[shell](await all()));
    return 'ok';
  },
});
