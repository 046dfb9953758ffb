// The request of each command, and command lines that together use every one of its flags: for
// docs/requests.md, and for the test that compares flags with fields.

import type { RequestName } from '../../server/protocol/api.ts';

export interface CommandRequest {
  readonly request: RequestName;
  /**
   * The command's arguments without its own name; an argument `FILE` or `IMAGE` stands for a file.
   */
  readonly lines: readonly (readonly string[])[];
  /** Flags that do not set a field of the request, and their effect. */
  readonly others?: Readonly<Record<string, string>>;
  /** Fields that the command does not set, and the reason. */
  readonly left?: Readonly<Record<string, string>>;
}

const words = (line: string): readonly string[] => line.split(' ').filter((word) => word !== '');

const taskFlags =
  '-e epic-1 -P task-1 -p high --blocked-by a,b --type bug --label x --accept one --agent codex --model opus ' +
  '--fallback claude --best-of 2 --choose person --test-mode strict --test-scope all ' +
  '--max-attempts 2 --runs-on local --continues task-9';

const output = { '--output': 'where the answer is written' };
const follow = { '--follow': 'goes on with what is new' };
const detach = { '--detach': 'does not wait for the end' };

export const commandRequests: Readonly<Record<string, CommandRequest>> = {
  add: {
    request: 'task.add',
    lines: [
      words(`T -d words --gate make --plan --template bug --set area=x ${taskFlags}`),
      words('T --description-file FILE --test-command make --no-plan --attach IMAGE'),
      ['task-1.2 Words'],
    ],
    left: {
      add_blockers: 'a new task has none to change',
      remove_blockers: 'a new task has none to change',
    },
  },
  edit: {
    request: 'task.edit',
    lines: [
      words(`task-1 --title T -d words --gate make --plan ${taskFlags}`),
      words('task-1 --no-epic --add-blocker c --remove-blocker d'),
      words('task-1 --description-file FILE --test-command make --no-plan --attach IMAGE'),
    ],
  },
  'epic add': { request: 'epic.add', lines: [words('T -d words --runs-on local')] },
  'epic list': { request: 'epic.list', lines: [[]] },
  'epic show': { request: 'epic.show', lines: [['epic-1']] },
  'epic edit': {
    request: 'epic.edit',
    lines: [words('epic-1 --title T -d words --runs-on local')],
  },
  'epic close': { request: 'epic.close', lines: [['epic-1']] },
  run: {
    request: 'run.start',
    lines: [
      words(
        '-w 2 --agent claude:opus -e epic-1 --target main --gate make --fallback codex --land epic --detach',
      ),
      words('--task task-1 --task task-2 --detach'),
    ],
    others: detach,
    left: {
      plan: 'a setting, or the task, says it',
      budget_usd: 'a setting names it',
    },
  },
  resume: { request: 'run.resume', lines: [['--detach']], others: detach },
  status: {
    request: 'status',
    lines: [words('-e epic-1')],
    others: {
      '--all': 'how it is shown',
      '--tree': 'how it is shown',
      '--watch': 'how it is shown',
      '--oneline': 'how it is shown',
    },
  },
  show: { request: 'task.show', lines: [['task-1']] },
  why: { request: 'why', lines: [['task-1']] },
  notes: { request: 'notes.list', lines: [words('-e epic-1')] },
  'notes add': { request: 'notes.add', lines: [words('words -e epic-1 --at src/a.ts:1')] },
  'notes keep': { request: 'notes.keep', lines: [['note-1']] },
  'notes drop': { request: 'notes.drop', lines: [['note-1']] },
  review: {
    request: 'review.show',
    lines: [['task-1']],
    others: { '--overrule': 'another request: review.overrule' },
  },
  pr: {
    request: 'epic.pull',
    lines: [['epic-1']],
    others: {
      '--reply': 'another request: epic.reply',
      '--watch': 'another request: epic.switch',
      '--fix': 'another request: epic.switch',
      '--merge': 'another request: epic.switch',
    },
  },
  log: {
    request: 'log.read',
    lines: [words('task-1 --attempt 2')],
    others: { ...follow, '--prompt': 'another request: log.prompt' },
    left: {
      before: 'the command reads forward',
      newest: 'the command reads all',
      wait_ms: 'the command looks again',
    },
  },
  events: {
    request: 'events.read',
    lines: [words('--after 1 --type a --task t --by ada --limit 2')],
    others: follow,
  },
  diff: { request: 'diff', lines: [words('task-1 --snapshot 1')] },
  snapshots: { request: 'snapshots', lines: [['task-1']] },
  report: {
    request: 'report',
    lines: [['run-1']],
    others: { ...output, '--html': 'how it is shown' },
  },
  search: {
    request: 'transcripts.search',
    lines: [words('cart total --limit 3')],
    left: { after: 'the command asks again by itself' },
  },
  'trace export': {
    request: 'trace.export',
    lines: [words('run-1 --otlp-json')],
    others: { ...output, '--otlp-json': 'the only format' },
  },
  metrics: { request: 'metrics', lines: [['--totals']] },
  at: {
    request: 'past.status',
    lines: [words('5 status -e epic-1'), words('2026-01-01T00:00:00Z status')],
  },
  approve: {
    request: 'approve',
    lines: [words('task-1 --plan-file FILE --with-ignored')],
    left: { seen: 'for panels, which know what they have shown' },
  },
  'send-back': { request: 'task.send_back', lines: [['task-1', 'words']] },
  undo: {
    request: 'undo',
    lines: [words('task-1 --dry-run')],
    left: { by: 'given in the shell of an agent' },
  },
  follow: { request: 'target.follow', lines: [words('main --leave-out')] },
  pause: { request: 'task.pause', lines: [words('task-1 --until task-2')] },
  'resume-task': { request: 'task.unpause', lines: [words('task-1 --hint words')] },
  hint: { request: 'task.hint', lines: [['task-1', 'words']] },
  answer: { request: 'answer', lines: [['q-1', 'yes']] },
  resolve: { request: 'task.resolve', lines: [words('task-1 --note words --anyway')] },
  cancel: { request: 'task.cancel', lines: [words('task-1 --reason words')] },
  retry: { request: 'task.retry', lines: [words('task-1 --force')] },
  restore: { request: 'task.restore', lines: [words('task-1 --snapshot 1')] },
  reset: {
    request: 'reset',
    lines: [words('task-1 --completed --failed --claimed --in-progress')],
  },
  import: {
    request: 'import',
    lines: [words('FILE --format jsonl --dry-run --update --rename --skip-invalid')],
    others: { '--continue': 'runs afterward' },
    left: { base: 'for a file that is kept equal (drover sync)' },
  },
  'import github': {
    request: 'issues.plan',
    lines: [words('12 --repo acme/shop')],
    others: {
      '--dry-run': 'imports nothing of the plan',
      '--yes': 'imports the plan without asking',
    },
    left: { env: 'added on the way to a running backend' },
  },
  export: {
    request: 'export',
    lines: [words('-f yaml')],
    others: output,
    left: {
      present: 'read from the file that --output names',
      leave: 'for a file that is kept equal (drover sync)',
    },
  },
  machines: { request: 'machines.list', lines: [['--all']] },
  'machines drain': {
    request: 'machines.drain',
    lines: [words('atlas --now')],
    others: { '--wait': 'waits for the end of the drain' },
  },
  'fleet release': { request: 'line.release', lines: [['main']] },
  'worktree list': {
    request: 'worktree.sizes',
    lines: [words('--size')],
    others: { '--size': 'without it, `worktree.list` answers' },
  },
  'worktree prune': {
    request: 'worktree.prune',
    lines: [words('--dry-run --force')],
    left: { paths: 'a panel removes what it has listed; the command lists and removes at once' },
  },
  prune: { request: 'prune', lines: [['--dry-run']] },
  'webhooks list': {
    request: 'webhooks.list',
    lines: [words('--endpoint chat --state failed --limit 2')],
  },
  'webhooks test': { request: 'webhooks.test', lines: [['chat']] },
  'webhooks retry': { request: 'webhooks.retry', lines: [['1-a']] },
  'server stop': { request: 'shutdown', lines: [['--force']] },
};

/** Commands without their own request, and the reason. */
export const otherCommands: Readonly<Record<string, string>> = {
  init: 'there is no project yet',
  templates: 'part of the settings that status answers',
  spec: 'asks a model, then imports',
  sync: 'a group',
  'sync beads': 'imports and exports again and again',
  epic: 'a group',
  trace: 'a group',
  worktree: 'a group',
  fleet: 'a group',
  'fleet prepare': 'prepares a database',
  'fleet grant': 'prepares a database',
  remote: 'a group',
  'remote test': 'asks a provisioner',
  'remote list': 'asks a provisioner',
  'remote preview': 'looks at the repository',
  'remote destroy': 'asks a provisioner',
  webhooks: 'a group',
  worker: 'is a backend itself',
  server: 'is a backend itself',
  'server install': 'writes a file for the service manager',
  'server uninstall': 'removes that file',
  'server status': 'asks the service manager',
  'worker-runtime': 'serves another protocol',
  web: 'serves pages that make requests',
  doctor: 'works where no backend does',
  trust: 'asks the person at the terminal',
  mcp: 'offers requests as tools',
  sqlforge: 'a group',
  'sqlforge apply': 'runs a program',
  migrate: 'moves a database',
  completion: 'is about the command itself',
};
