// Commands of the Go version that have other names here. A user who types one gets the new name.

const commands: { readonly [word: string]: string } = {
  watch: 'use "drover status --watch"',
  stream: 'use "drover log <id> --follow"',
  info: 'use "drover doctor" for the installation, "drover status" for the plan',
  quick: 'use "drover add <title>", then "drover run"',
  dashboard: 'use "drover status --watch", or the board in VS Code',
  share: 'use "drover export" for the plan, "drover report <epic>" for what was done',
  'worktree cleanup': 'use "drover worktree prune"',
};

const options: { readonly [option: string]: string } = {
  '--skip-validation': 'leave it out: no validation runs that could be skipped',
  '--test-mode':
    '--test-mode <mode> belongs to a task ("drover edit <id> --test-mode strict"), and work with a red gate never lands',
  '-v': 'leave it out: "drover log <id> --follow" shows what an agent does',
  '--verbose': 'leave it out: "drover log <id> --follow" shows what an agent does',
};

/**
 * `path`: the command as typed, without `drover`. `complaint`: the sentence about the unknown word.
 */
export function remedyForGoWord(path: string, complaint: string): string | null {
  const word = /unknown (?:command|option) '([^']+)'/.exec(complaint)?.[1];
  if (word === undefined) return null;
  if (word.startsWith('-')) return options[word] ?? null;
  return commands[`${path} ${word}`.trim()] ?? null;
}
